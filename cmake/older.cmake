# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# What the headers of Ubuntu 22.04 lack: numbers of the kernel's ABI, and a member of libmlx5's structures. A kernel that
# does not know them refuses the request.
include(CheckCSourceCompiles)
include(CheckStructHasMember)

function(dpumap_define_if_missing name header value)
	check_c_source_compiles("#include <${header}>\nint main(void) { return ${name} != ${value}; }" DPUMAP_HAS_${name})
	if(NOT DPUMAP_HAS_${name})
		add_compile_definitions(${name}=${value})
	endif()
endfunction()

macro(dpumap_support_older_headers)
	set(CMAKE_REQUIRED_INCLUDES ${DPUMAP_IBVERBS_INCLUDE_DIRS} ${DPUMAP_MLX5_INCLUDE_DIRS})
	dpumap_define_if_missing(MLX5_IB_ATTR_DEVX_UMEM_REG_DMABUF_FD rdma/mlx5_user_ioctl_cmds.h 0x1006)
	dpumap_define_if_missing(UFFD_FEATURE_WP_HUGETLBFS_SHMEM linux/userfaultfd.h 0x1000)
	check_struct_has_member("struct mlx5dv_devx_umem_in" dmabuf_fd infiniband/mlx5dv.h DPUMAP_MLX5DV_DMABUF_UMEM)
	if(NOT DPUMAP_MLX5DV_DMABUF_UMEM)
		add_compile_definitions(DPUMAP_NO_MLX5DV_DMABUF_UMEM)
	endif()
endmacro()
