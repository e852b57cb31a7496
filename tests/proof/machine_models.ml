(* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only *)
(* Machine models that Frama-C 25 lacks, as differences to its own. *)
let arm_32 =
  { Machdeps.x86_32 with
    Cil_types.version = "32-bit Arm, EABI";
    char_is_unsigned = true;
    alignof_longlong = 8;
    alignof_double = 8;
    alignof_longdouble = 8;
    sizeof_longdouble = 8;
    alignof_aligned = 8;
    wchar_t = "unsigned int" }

let big_64 =
  { Machdeps.x86_64 with
    Cil_types.version = "64-bit, big-endian";
    little_endian = false;
    char_is_unsigned = true }

let () =
  File.new_machdep "arm_32" arm_32;
  File.new_machdep "big_64" big_64
