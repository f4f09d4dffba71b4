// Loop and storage hints of the AIE compilers: nothing on the host.
#pragma once

#define AIE_LOOP_UNROLL(x)
#define AIE_LOOP_UNROLL_FULL
#define AIE_LOOP_NO_UNROLL
#define AIE_LOOP_MIN_ITERATION_COUNT(x)
#define AIE_LOOP_MAX_ITERATION_COUNT(x)
#define AIE_LOOP_RANGE(a, ...)
#define AIE_LOOP_FLATTEN
#define AIE_PREPARE_FOR_PIPELINING
#define AIE_NO_PREPARE_FOR_PIPELINING
#define AIE_PREPARE_FOR_POSTPIPELINING
#define AIE_MODULO_SCHEDULING_BUDGET_RATIO(x)
#define AIE_KEEP_SW_LOOP
#define AIE_PEEL_PIPELINED_LOOP(x)
#define AIE_KEEP_FREE_FOR_PIPELINING(x)
#define AIE_ALLOCATE(x)
#define AIE_NO_HW_LOOP
#define AIE_TRY_INITIATION_INTERVAL(x)

#define chess_prepare_for_pipelining
#define chess_no_prepare_for_pipelining
#define chess_loop_range(...)
#define chess_loop_count(...)
#define chess_unroll_loop(...)
#define chess_unroll_loop_preamble
#define chess_flatten_loop
#define chess_keep_sw_loop
#define chess_no_hw_loop
#define chess_storage(...)
#define chess_protect_access
#define chess_copy(x) (x)
#define chess_const(x) (false)
#define chess_manifest(x) (false)
#define chess_separator()
#define chess_separator_scheduler(...)
#define chess_separator_scheduler_local(...)
#define chess_memory_fence(...)
#define chess_protect

#define __aie_inline inline
#define __aie_dm_resource_a
#define __aie_dm_resource_b
#define __aie_dm_resource_c
#define __aie_dm_resource_d
