/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Unmap memory of other processes before the command returns that ends its mkey (unmap.h, engine/memory/maps.c).
 *
 * Two slots for engines, three mkeys, and one server that creates and retires them. Mkey 0 names memory;
 * mkey 1 is an alias of mkey 2. At each step a process may end; another one then uses its slot. A stopped
 * process is one that makes no step for a while; then the server gives up on its engine.
 *
 * Checked: when a command has returned that ends an mkey, no engine has memory mapped by it, except an
 * engine on which the server gave up. Such an engine unmaps the memory when it begins its next pass. No
 * engine uses memory after that, except within the pass on which the server gave up. No command waits
 * forever, and no request to unmap finds an engine asleep that stays asleep.
 *
 * Memory: all of these accesses are sequentially consistent.
 *
 * check: both -DROUNDS=1 -DDEATHS=1 -DSTARTS=2 -DSECOND=1
 * check: again -DROUNDS=2 -DDEATHS=1 -DSTARTS=2 -DSECOND=0
 * check: slots -DROUNDS=2 -DDEATHS=1 -DSTARTS=3 -DSECOND=0
 * mutant: NO_WAIT : the server does not wait for the answers
 * mutant: NO_GRACE : the server does not wait for engines in a pass
 * mutant: NO_RECHECK : an engine does not look at the mkeys again when it has mapped the memory
 * mutant: NO_BARRIER : an engine looks at the mkeys again before others see that it has mapped memory
 * mutant: NAME_FREE : an mkey that was retired meanwhile counts as valid as long as it is free
 * mutant: LATE_NAME -DROUNDS=2 -DDEATHS=0 -DSTARTS=2 -DSECOND=0 : an engine reads what an mkey means, and its serial only afterwards
 * mutant: MARK_KEY : an engine marks the key that it was given, but not the mkeys behind it
 * mutant: LATE_WAKE : an engine loads its futex word after its pass
 * mutant: NO_WAKE : a request does not wake the engine
 * mutant: RELOAD -DROUNDS=2 -DDEATHS=1 -DSTARTS=3 -DSECOND=0 : the server gives up at a number that it loads again
 * mutant: RESET_COUNT -DROUNDS=2 -DDEATHS=1 -DSTARTS=3 -DSECOND=0 : the requests of a slot are counted from 0 for its next engine
 */
#ifndef ROUNDS
#define ROUNDS 2 /* mkeys that the server creates or retires */
#define DEATHS 0
#define STARTS 2
#define SECOND 0
#endif
#define USES (E == 0 -> 1 : SECOND) /* of memory, by each engine */

/* The shared tables. Each mkey exists at first. */
byte serial[3] = 1;
bool mapped[3];
byte slot_serial[2], unmap[2], unmapped[2];
bool maps[2];
bool in_pass[2]; /* the epoch is odd (grace.pml) */
bool woken[2];	 /* emu_engine.wake is not what the engine loaded last */

bool ended[2];
byte runs[2], deaths, starts;

/* Of the server. */
bool awaited[2]; /* in this pass */
byte want[2], gave_up_at[2];
bool waits;

/*
 * Engine `e` has mapped memory 0 by mkey 0 and memory 1 by mkeys 1 and 2, whose serials and lives (of the
 * check) it found.
 */
bool has[4];
byte by[6], found[6];

/* Of the check. */
byte life[3] = 1;
bool excused[2], late[2];

#define E	 _pid
#define HAS(e, m) has[2 * (e) + (m)]
#define BY(e, k)  by[3 * (e) + (k)]
#define FOUND(e, k) found[3 * (e) + (k)]

#define OLD(e, k)  (FOUND(e, k) != life[k])
#define STALE(e) ((HAS(e, 0) && OLD(e, 0)) || (HAS(e, 1) && (OLD(e, 1) || OLD(e, 2))))

#ifdef NAME_FREE
#define VALID(e, k) (BY(e, k) == serial[k])
#else
#define VALID(e, k) (BY(e, k) == serial[k] && BY(e, k))
#endif
#define VALID_MAP(e, m) (m == 0 -> VALID(e, 0) : (VALID(e, 1) && VALID(e, 2)))

#define OR_END :: deaths < DEATHS -> deaths++; goto m_process_end

inline forget(m)
{
	BY(E, m) = 0;
	FOUND(E, m) = 0;
	BY(E, 2) = (m == 1 -> 0 : BY(E, 2));
	FOUND(E, 2) = (m == 1 -> 0 : FOUND(E, 2))
}

/* What the mkeys mean, and so which memory is mapped. */
inline read(m)
{
	d_step {
		FOUND(E, m) = life[m];
		FOUND(E, 2) = (m == 1 -> life[2] : FOUND(E, 2))
	}
}

inline drop(m)
{
	d_step {
		HAS(E, m) = false;
		forget(m);
		maps[E] = HAS(E, 0) || HAS(E, 1)
	}
}

active [2] proctype engine()
{
	byte r, served, uses;
	bit m;
	bool worked, valid;

end_start:
	runs[E] != 0 && !ended[E] ->
	do
	:: slot_serial[E] == runs[E] ->
#ifndef LATE_WAKE
wake_load:	woken[E] = false;
#endif
pass_begin:	in_pass[E] = true;
prune_load:	r = unmap[E];
		if
		:: r != served ->
			atomic {
				if
				:: HAS(E, 0) && !VALID_MAP(E, 0) -> drop(0)
				:: else
				fi;
				if
				:: HAS(E, 1) && !VALID_MAP(E, 1) -> drop(1)
				:: else
				fi
			}
			if
			:: true ->
prune_answer:			d_step {
					assert(!STALE(E) || r != unmap[E]);
					served = r;
					unmapped[E] = r;
					late[E] = late[E] && r != unmap[E] /* an answer to an earlier request */
				}
			OR_END
			fi
		:: else
		fi;
		if
		:: atomic {
			uses < USES ->
			uses++;
			worked = true;
			r = 0;
			if
			:: E == 0 -> m = 0
			:: m = 1
			fi
			}
			if
			:: serial[m] && (m == 0 || serial[2]) ->
map_look_up:			valid = HAS(E, m) && VALID_MAP(E, m);
				if
				:: HAS(E, m) && !valid -> drop(m) /* and map it the next time */
				:: !HAS(E, m) ->
#ifdef LATE_NAME
					read(m);
#endif
map_name:				d_step {
						BY(E, m) = serial[m];
						BY(E, 2) = (m == 1 -> serial[2] : BY(E, 2))
					}
map_read:
#ifndef LATE_NAME
					read(m);
#endif
map_mark:				d_step {
						mapped[m] = true;
#ifndef MARK_KEY
						mapped[2] = (m == 1 -> true : mapped[2])
#endif
					}
					if
					:: true ->
map_pages:					HAS(E, m) = true
					OR_END
					fi;
#ifdef NO_BARRIER
					valid = VALID_MAP(E, m);
					maps[E] = true;
#else
map_count:				maps[E] = true;
#ifdef NO_RECHECK
					valid = true;
#else
map_recheck:				valid = VALID_MAP(E, m);
#endif
#endif
					if
					:: !valid -> drop(m)
					:: else
					fi
				:: else
				fi
			:: else
			fi;
			if
			:: true ->
map_use:			d_step {
					assert(!valid || !STALE(E) || excused[E]);
					valid = false;
					m = 0
				}
			OR_END
			fi
		:: true
		fi;
pass_end:	d_step {
			r = 0;
			in_pass[E] = false;
			awaited[E] = false;
			excused[E] = false;
			assert(!STALE(E) || unmap[E] != served)
		};
#ifdef LATE_WAKE
		woken[E] = false;
#endif
		if
		:: worked -> worked = false
		:: !worked ->
sleep:			woken[E] || slot_serial[E] != runs[E]
		OR_END
		fi
	:: else -> break
	od;
m_process_end:
	skip;
	d_step {
		ended[E] = true;
		in_pass[E] = false;
		HAS(E, 0) = false;
		HAS(E, 1) = false;
		forget(0);
		forget(1);
		r = 0;
		m = 0;
		served = 0;
		uses = 0;
		worked = false;
		valid = false
	};
	goto end_start
}

inline grace(e)
{
	if
	:: !awaited[e] || ended[e] -> awaited[e] = false
	:: awaited[e] && !ended[e] && !excused[0] && !excused[1] ->
		d_step {
			excused[e] = true;
			awaited[e] = false
		}
	fi
}

inline request(e)
{
	if
	:: slot_serial[e] && maps[e] ->
		d_step {
			unmap[e]++;
			want[e] = unmap[e]
		};
#ifndef NO_WAKE
unmap_wake:	woken[e] = true;
#endif
		if
		:: gave_up_at[e] && unmapped[e] + 1 == gave_up_at[e] -> want[e] = 0
		:: else
		fi
	:: else
	fi
}

#define ANSWERED(e) (!want[e] || unmapped[e] >= want[e] || ended[e])

inline answer(e)
{
	if
	:: ANSWERED(e) -> want[e] = 0
#ifdef NO_WAIT
	:: true -> want[e] = 0
#endif
	:: atomic {
		!ANSWERED(e) && !late[0] && !late[1] ->
#ifdef RELOAD
		skip
		}
#endif
unmap_give_up:	d_step {
			gave_up_at[e] = unmapped[e] + 1;
			late[e] = true;
			want[e] = 0
		}
#ifndef RELOAD
		}
#endif
	fi
}

inline start(e)
{
	d_step {
		starts++;
#ifdef RESET_COUNT
		unmap[e] = 0;
		unmapped[e] = 0;
#else
		unmapped[e] = unmap[e]; /* it has no mappings */
#endif
		maps[e] = false;
		excused[e] = false;
		late[e] = false;
		ended[e] = false;
		runs[e] = starts;
		slot_serial[e] = starts
	}
}

inline choose_mkey()
{
	if
	:: i = 0
	:: i = 1
	:: i = 2
	fi
}

active proctype server()
{
	byte i, last = 1, rounds;

slot_start:
	start(0);
	start(1);
	do
	:: rounds < ROUNDS ->
		atomic { rounds++; choose_mkey() }
		if
		:: !serial[i] ->
mkey_publish:		d_step { last++; life[i] = last; serial[i] = last; i = 0 }
		:: else ->
mkey_retire:		d_step { serial[i] = 0; waits = true };
#ifndef NO_GRACE
			d_step { awaited[0] = in_pass[0]; awaited[1] = in_pass[1] }
			grace(0);
			grace(1);
#endif
			if
			:: mapped[i] ->
unmap_request:			request(0);
				request(1);
unmap_wait:			answer(0);
				answer(1);
mkey_clear:			mapped[i] = false
			:: else
			fi;
mkey_retired:		d_step {
				life[i] = 0;
				waits = false;
				i = 0;
				assert(ended[0] || !STALE(0) || excused[0] || late[0]);
				assert(ended[1] || !STALE(1) || excused[1] || late[1])
			}
		fi
	:: starts < STARTS && !slot_serial[0] -> start(0)
	:: starts < STARTS && !slot_serial[1] -> start(1)
	:: slot_serial[0] && ended[0] -> slot_serial[0] = 0
	:: slot_serial[1] && ended[1] -> slot_serial[1] = 0
	:: rounds == ROUNDS -> break
	od
}

/* The server must not be waiting when no process can make a step. */
active proctype monitor()
{
	timeout -> assert(!waits)
}
