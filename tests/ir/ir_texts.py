# ruff: noqa: E501 -- MLIR prints long lines
"""MLIR of our own, by subject: what must be read, checked, printed and read back."""

from __future__ import annotations

FIFO_DESIGN = """
module {
  aie.device(npu1_2col) {
    %shim = aie.tile(0, 0)
    %mem = aie.tile(0, 1)
    %left = aie.tile(0, 2)
    %right = aie.tile(0, 3)
    aie.objectfifo @whole(%shim, {%mem}, 2 : i32) : !aie.objectfifo<memref<64xi16>>
    aie.objectfifo @low(%mem, {%left}, 2 : i32) : !aie.objectfifo<memref<32xi16>>
    aie.objectfifo @high(%mem dimensionsToStream [<size = 8, stride = 4>, <size = 4, stride = 1>],
        {%right dimensionsFromStream [<size = 32, stride = 1>]}, [2 : i32, 3 : i32])
        {via_DMA = true} : !aie.objectfifo<memref<32xi16>>
    aie.objectfifo.link [@whole] -> [@low, @high] ([] [0, 32])
    aie.objectfifo @near(%left, {%right}, 1 : i32) : !aie.objectfifo<memref<32xi16>>
        -> !aie.objectfifo<memref<8x2xi16>> = [dense<7> : memref<32xi16>]
    aie.objectfifo.allocate @near (%right)
    aie.objectfifo @result(%right, {%shim, %left}, 2 : i32) : !aie.objectfifo<memref<32xi16>>
    func.func private @halve(memref<32xi16>, i32) -> i32 attributes {link_with = "halve.o"}
    aie.core(%left) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %last = arith.constant 9223372036854775807 : index
      %four = arith.constant 4 : i32
      scf.for %i = %c0 to %last step %c1 {
        %got = aie.objectfifo.acquire @low (Consume, 2) : !aie.objectfifosubview<memref<32xi16>>
        %a = aie.objectfifo.subview.access %got[1] : !aie.objectfifosubview<memref<32xi16>> -> memref<32xi16>
        %out = aie.objectfifo.acquire @near (Produce, 1) : !aie.objectfifosubview<memref<32xi16>>
        %b = aie.objectfifo.subview.access %out[0] : !aie.objectfifosubview<memref<32xi16>> -> memref<32xi16>
        %n = func.call @halve(%a, %four) : (memref<32xi16>, i32) -> i32
        aie.objectfifo.release @low (Consume, 2)
        aie.objectfifo.release @near (Produce, 1)
      }
      aie.end
    } {stack_size = 2048 : i32, dynamic_objfifo_lowering = true}
    aie.runtime_sequence @go(%in: memref<64xi16>, %out: memref<32xi16>, %n: i32) {
      %t = aiex.dma_configure_task_for @whole repeat %n : i32 {
        aie.dma_bd(%in : memref<64xi16> offset = 0 len = 64 sizes = [1, 1, 8, 8] strides = [0, 0, 8, 1]) {burst_length = 0 : i32}
        aie.end
      }
      %u = aiex.dma_configure_task_for @result {
        aie.dma_bd(%out : memref<32xi16> len = %n)
        aie.end
      } {issue_token = true}
      aiex.dma_start_task(%t)
      aiex.dma_start_task(%u)
      aiex.dma_await_task(%u)
      aiex.dma_free_task(%t)
    }
  }
}
"""

EARLY_2026 = """
module {
  aie.device(npu1_1col) @main {
    %tile_0_2 = aie.tile(0, 2) {controller_id = #aie.packet_info<pkt_type = 0, pkt_id = 27>}
    %shim_noc_tile_0_0 = aie.tile(0, 0)
    %gain = aie.buffer(%tile_0_2) {address = 1024 : i32, mem_bank = 0 : i32, sym_name = "gain"} : memref<4xi32>
    %table = aie.buffer(%tile_0_2) {sym_name = "table"} : memref<2x2xi32> = dense<[[1, 2], [3, -4]]>
    %lock_0_2 = aie.lock(%tile_0_2, 3) {init = 1 : i32}
    func.func private @kernel(memref<4xi32>)
    %core_0_2 = aie.core(%tile_0_2) {
      aie.use_lock(%lock_0_2, AcquireGreaterEqual, 1)
      func.call @kernel(%gain) : (memref<4xi32>) -> ()
      aie.use_lock(%lock_0_2, Release, 1)
      aie.end
    } {link_with = "kernel.o"}
    %mem_0_2 = aie.mem(%tile_0_2) {
      %0 = aie.dma_start(S2MM, 0, ^bb1, ^bb2, repeat_count = 3)
    ^bb1:
      aie.use_lock(%lock_0_2, AcquireGreaterEqual, 1)
      aie.dma_bd(%gain : memref<4xi32>, 0, 4, [<size = 2, stride = 2>, <size = 2, stride = 1>]) {bd_id = 0 : i32, next_bd_id = 0 : i32}
      aie.use_lock(%lock_0_2, Release, 1)
      aie.next_bd ^bb1
    ^bb2:
      aie.end
    }
    aie.shim_dma_allocation @in(%shim_noc_tile_0_0, MM2S, 0)
    aiex.runtime_sequence @sequence(%arg0: memref<4xi32>) {
      aiex.npu.rtp_write(@gain, 0, 5)
      aiex.set_lock(%lock_0_2, 1)
      aiex.npu.dma_memcpy_nd(%arg0[0, 0, 0, 0][1, 1, 1, 4][0, 0, 0, 1], packet = <pkt_id = 1, pkt_type = 0>) {id = 0 : i64, issue_token = true, metadata = @in} : memref<4xi32>
      aiex.npu.dma_wait {symbol = @in}
      aiex.npu.write32 {address = 119324 : ui32, value = 0 : ui32}
      aiex.npu.maskwrite32 {address = 119296 : ui32, mask = 7936 : ui32, value = 3840 : ui32}
      aiex.npu.address_patch {addr = 118788 : ui32, arg_idx = 0 : i32, arg_plus = 0 : i32}
      aiex.npu.push_queue (0, 0, S2MM : 1) {bd_id = 3 : i32, issue_token = false, repeat_count = 3 : i32}
      aiex.npu.sync {channel = 0 : i32, column = 0 : i32, column_num = 1 : i32, direction = 0 : i32, row = 0 : i32, row_num = 1 : i32}
    }
  }
}
"""

LATE_2026 = """
module {
  aiex.scratchpad_parameter @scale : bf16 {kind = 0 : i32}
  aie.device(npu2) @inner {
    %shim = aie.logical_tile<ShimNOCTile>(?, 0)
    %core = aie.logical_tile<CoreTile>(?, ?) {allocation_scheme = "basic-sequential"}
    aie.objectfifo @in(%shim, {%core}, 2 : i32) : !aie.objectfifo<memref<8xf32>>
    aie.runtime_sequence(%a: memref<8xf32>) {
    }
  }
  aie.device(npu2) {
    %t00 = aie.tile(0, 0)
    %t01 = aie.tile(0, 1)
    %t02 = aie.tile(0, 2)
    %buffer = aie.buffer(%t01) {sym_name = "middle"} : memref<64xi32>
    %free = aie.lock(%t01) {init = 1 : i32}
    %full = aie.lock(%t01, 1) {init = 0 : i32, sym_name = "full"}
    %own = aie.lock(%t02, 0)
    %c1 = arith.constant 1 : i32
    %ext = aie.external_buffer {sym_name = "outside"} : memref<16xi32>
    %dma = aie.memtile_dma(%t01) {
      %0 = aie.dma(S2MM, 2) {loop = false, repeat_count = 1 : i32} [{
        aie.use_lock(%free, AcquireGreaterEqual, %c1)
        aie.dma_bd(%buffer : memref<64xi32> len = 64) {iteration = #aie.bd_iteration<size = 2, stride = 32, current = 0>}
        aie.use_lock(%full, Release, %c1)
      }, {
        aie.dma_bd(%buffer : memref<64xi32> sizes = [4, 8] strides = [16, 1] pad [<const_pad_before = 0, const_pad_after = 1>, <const_pad_before = 4, const_pad_after = 0>])
      }]
      aie.end
    }
    %shimdma = aie.shim_dma(%t00) {
      %1 = aie.dma_start(MM2S, 1, ^bd, ^end)
    ^bd:
      aie.dma_bd_packet(1, 2)
      aie.dma_bd(%ext : memref<16xi32> offset = 0 len = 16) {packet = #aie.packet_info<pkt_type = 1, pkt_id = 2>}
      aie.next_bd ^end
    ^end:
      aie.end
    }
    %core = aie.core(%t02) {
      aie.use_lock(%own, Acquire, %c1, Blocking)
      %s = aiex.read_scratchpad_parameter @scale : bf16
      aie.event(1)
      aie.end
    }
    aie.flow(%t00, DMA : 0, %t01, DMA : 2)
    aie.packet_flow(3) {
      aie.packet_source<%t00, DMA : 1>
      aie.packet_dest<%t02, TileControl : 0>
    } {keep_pkt_header = true, priority_route = true}
    aie.shim_dma_allocation @given(%t00, S2MM, 1, <pkt_type = 0, pkt_id = 4>)
    aie.bd_chain @chain(%m: memref<16xi32>) {
      aie.dma_bd(%m : memref<16xi32>)
      aie.end
    }
    aie.runtime_sequence @top(%a: memref<8xf32>, %m: memref<16xi32>, %n: i32, %o: i64) attributes {emit_parameter_sync_preamble = false} {
      aiex.sync_scratchpad_parameters_from_host
      aiex.npu.load_pdi {device_ref = @inner}
      aiex.configure @inner {
        aiex.run @sequence (%a) : (memref<8xf32>)
      } {expand_mode = 1 : i32}
      %task = aiex.dma_configure_task(%t02, S2MM, 1) repeat %n : i32 bd_id %n : i32 {
        aie.dma_bd(%m : memref<16xi32> offset = %n len = 8)
        aie.next_bd ^more
      ^more:
        aie.dma_bd(%m : memref<16xi32> sizes = [%o, 4] strides = [4, 1])
        aie.end
      } {issue_token = true}
      %chained = aiex.dma_start_bd_chain @chain(%m) : (memref<16xi32>) on (%t02, MM2S, 0)
      %again = aiex.dma_start_bd_chain_for @chain(%m) : (memref<16xi32>) for @given
      aiex.dma_await_task(%task)
      aiex.npu.dma_memcpy_nd(%m[0, 0, 0, %o][1, 1, 1, 8][0, 0, 0, 1]) {id = 1 : i64, metadata = @given} : memref<16xi32>
      aiex.npu.write32(%n, %n) {column = 0 : i32, row = 2 : i32} : i32, i32
      aiex.npu.maskwrite32(%n, %n, %n) : i32, i32, i32
      aiex.npu.sync(%n, %n, %n, %n, %n, %n) : i32, i32, i32, i32, i32, i32
      aiex.npu.address_patch(%n : i32) addr %n : i32 {addr = 4 : ui32, arg_idx = 1 : i32}
      aiex.npu.push_queue(0, 2, MM2S : 0) bd_id %n repeat %n {issue_token = true} : i32, i32
      aiex.npu.rtp_write(@middle, 3, %n) : i32
      aiex.npu.assert_bd_field(%n) {max = 4 : i32} : i32
      aiex.npu.preempt {level = 1 : ui8}
      aiex.npu.create_scratchpad {size = 4 : ui32}
      aiex.npu.update_from_scratchpad<incr> {address = 4 : ui32, state_table_idx = 0 : ui8}
      aiex.control_packet {address = 8 : ui32, data = array<i32: 1, 2>, opcode = 0 : i32, stream_id = 0 : i32}
      %id = aiex.dma_bd_pool_pop(0, 0) : i32
      aiex.dma_bd_pool_push(0, 0) bd_id %id : i32
      aiex.set_lock(%own, 0)
      aiex.dma_channel_reset(%t02, S2MM, 0)
      aiex.core_reset(%t02)
      scf.for %i = %o to %o step %o : i64 {
        aiex.dma_free_task(%task)
      }
    }
  }
}
"""

PHYSICAL = """
module {
  aie.device(npu1_1col) {
    %shim_noc_tile_0_0 = aie.tile(0, 0)
    %tile_0_2 = aie.tile(0, 2)
    %tile_0_3 = aie.tile(0, 3)
    %shim_mux_0_0 = aie.shim_mux(%shim_noc_tile_0_0) {
      aie.connect<DMA : 0, North : 3>
    }
    %switchbox_0_2 = aie.switchbox(%tile_0_2) {
      aie.connect<South : 1, DMA : 1>
      %0 = aie.amsel<0> (0)
      %1 = aie.amsel<5> (3)
      %2 = aie.masterset(DMA : 0, %0, %1) {keep_pkt_header = true}
      aie.packet_rules(South : 3) {
        aie.rule(31, 15, %0)
        aie.rule(28, 0, %1)
      }
    }
    aie.wire(%shim_mux_0_0 : North, %switchbox_0_2 : South)
    aie.cascade_flow(%tile_0_3, %tile_0_2)
    aie.configure_cascade(%tile_0_2, North, South)
    memref.global "private" constant @words : memref<8xi32> = dense<[4096, 0, 0, 0, -2147483648, 33554432, 0, 1]>
    memref.global @blank : memref<2xf32> = uninitialized
    %core_0_2 = aie.core(%tile_0_2) {
      %c0_i32 = arith.constant 0 : i32
      %0 = aie.get_stream(%c0_i32 : i32) : i32
      aie.put_stream(%c0_i32 : i32, %0 : i32)
      %1 = aie.get_cascade() : vector<16xi32>
      aie.put_cascade(%1 : vector<16xi32>)
      aie.debug(%0 : i32)
      aie.end
    } {elf_file = "core.elf", link_files = ["a.o", "b.o"]}
    aie.runtime_sequence(%arg0: memref<8xi32>) {
      %0 = memref.get_global @words : memref<8xi32>
      aiex.npu.blockwrite(%0) {address = 118784 : ui32} : memref<8xi32>
    }
  }
}
"""

TRACES = """
module {
  aie.device(npu2_1col) {
    %tile = aie.tile(0, 2)
    aie.trace @core_trace(%tile) {
      aie.trace.mode "Event-Time"
      aie.trace.packet id = 1 type = core
      aie.trace.event<"INSTR_EVENT_0"> label = "begin"
      aie.trace.event<CoreEventAIE2P::INSTR_EVENT_1>
      aie.trace.port<0> port = DMA channel = 1 direction = S2MM
      aie.trace.combo_event<0> <"LOCK_STALL"> AND_NOT <"INSTR_EVENT_1">
      aie.trace.edge_event<1> event = <"LOCK_STALL"> trigger = RISING
      aie.trace.start broadcast = 15
      aie.trace.stop event = <"NONE">
    }
    aie.trace.config @written(%tile) packet_type = mem {
      aie.trace.reg register = "Trace_Control0" field = "Mode" value = 2 mask = 3 comment = "mode"
      aie.trace.reg register = "Trace_Event0" value = CoreEventAIE2P::INSTR_EVENT_1
    }
    aie.runtime_sequence(%arg0: memref<8xi32>) {
      aie.trace.host_config {buffer_size = 8192 : i32}
      aie.trace.start_config @core_trace
    }
  }
}
"""

OLDER_ROUTES = """
module {
  aiex.token(0) {sym_name = "token0"}
  aie.device(xcvc1902) {
    %t73 = aie.tile(7, 3)
    %t74 = aie.tile(7, 4)
    %a = aie.buffer(%t73) : memref<16xi32>
    %b = aie.buffer(%t74) : memref<16xi32>
    %p = aie.plio(3)
    aiex.multicast(%t73, DMA : 0) {
      aiex.multi_dest<%t74, DMA : 1>
    }
    aiex.broadcast_packet(%t73, DMA : 0) {
      aiex.bp_id(3) {
        aiex.bp_dest<%t74, DMA : 0>
      }
    }
    aiex.memcpy @token0(1, 2) (%t73 : <%a, 0, 16>, %t74 : <%b, 0, 16>) : (memref<16xi32>, memref<16xi32>)
    aie.core(%t73) {
      aiex.useToken @token0(Acquire, 1)
      aie.end
    }
    aiex.cert.section @pdi {
      aiex.cert.job(1) {
        aiex.cert.write32(4096, 42)
        aiex.cert.wait_tcts(1, 2, 3)
      }
    }
    aiex.cert.page {
      aiex.cert.nop
    }
    aiex.cert.attach_to_group(1) {
    }
    aiex.cert.uc_dma_chain @words {
      aiex.cert.uc_dma_bd @mem, 4, 8, true
    }
  }
}
"""

STRUCTURED = """
func.func @sums(%m: memref<4x8xf32>, %n: index, %flag: i1 {test.note = 1 : i64}) -> (f32, i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.000000e+00 : f32
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (f32) {
    %x = memref.load %m[%c0, %i] : memref<4x8xf32>
    %y = arith.addf %acc, %x fastmath<reassoc,contract> : f32
    memref.store %y, %m[%c1, %i] {nontemporal = true} : memref<4x8xf32>
    scf.yield %y : f32
  }
  %i = arith.index_cast %n : index to i32
  %r:2 = scf.if %flag -> (i32, f32) {
    %k = arith.addi %i, %i overflow<nsw, nuw> : i32
    scf.yield %k, %s : i32, f32
  } else {
    %cst = arith.constant 3 : i32
    scf.yield %cst, %zero : i32, f32
  }
  scf.if %flag {
    func.call @nothing() : () -> ()
  }
  %w = scf.while (%a = %r#0) : (i32) -> i32 {
    %less = arith.cmpi slt, %a, %i : i32
    scf.condition(%less) %a : i32
  } do {
  ^bb0(%b: i32):
    %next = arith.shrui %b, %i exact : i32
    scf.yield %next : i32
  }
  %v = scf.index_switch %n -> i32
  case 2 {
    scf.yield %w : i32
  }
  default {
    scf.yield %i : i32
  }
  scf.parallel (%p, %q) = (%c0, %c0) to (%n, %n) step (%c1, %c1) {
    scf.reduce
  }
  %e = scf.execute_region -> i32 {
    scf.yield %v : i32
  }
  return %r#1, %e : f32, i32
}
func.func private @nothing()
"""

BRANCHES = """
func.func @collatz(%start: i64) -> i64 {
  %one = arith.constant 1 : i64
  %yes = arith.constant true
  cf.br ^head(%start, %one : i64, i64)
^head(%n: i64, %steps: i64):
  %done = arith.cmpi ule, %n, %one : i64
  cf.cond_br %done, ^out(%steps : i64), ^body
^body:
  %more = arith.addi %steps, %one : i64
  cf.assert %yes, "always"
  cf.br ^head(%one, %more : i64, i64)
^out(%result: i64):
  func.return %result : i64
}
"""

NUMBERS = """
func.func @numbers(%a: i32, %b: i32, %x: f32, %y: f32, %v: vector<4xf32>, %w: vector<4xi1>) {
  %0 = arith.floordivsi %a, %b : i32
  %1 = arith.cmpf oeq, %x, %y : f32
  %2 = arith.select %1, %x, %y : f32
  %3 = arith.select %w, %v, %v : vector<4xi1>, vector<4xf32>
  %4 = arith.truncf %x : f32 to bf16
  %5 = arith.truncf %x to_nearest_even : f32 to f16
  %6 = arith.extsi %a : i32 to i64
  %7 = arith.fptosi %x : f32 to i8
  %8 = arith.negf %v fastmath<fast> : vector<4xf32>
  %9 = arith.constant dense<[1.5, -0.0, 0x7F800000, 1.0e-3]> : vector<4xf32>
  %10 = arith.constant 0x7FC00000 : f32
  %11 = arith.constant -5 : i8
  %low, %high = arith.mulsi_extended %a, %b : i32
  %sum, %carry = arith.addui_extended %a, %b : i32, i1
  %12 = math.exp %v : vector<4xf32>
  %13 = math.powf %x, %y : f32
  %14 = math.fma %x, %y, %x : f32
  %15 = math.absi %a : i32
  %16 = math.fpowi %x, %a : f32, i32
  %17 = arith.constant 12 : i64
  %18 = ub.poison : i32
  func.return
}
"""

MEMORY = """
#map = affine_map<(d0, d1)[s0] -> (d0 + s0, d1)>
!tile = memref<8x8xi32, strided<[?, 1], offset: ?>, 2 : i32>
func.func @memory(%m: memref<8x8xi32>, %d: memref<?x8xi32>, %t: !tile, %i: index, %f: f32) {
  %c2 = arith.constant 2 : index
  %a = memref.alloc() : memref<16xi32>
  %b = memref.alloc(%i) {alignment = 64 : i64} : memref<?x8xi32>
  %c = memref.alloca() : memref<4x4xf32>
  memref.dealloc %a : memref<16xi32>
  %n = memref.dim %d, %c2 : memref<?x8xi32>
  %s = memref.subview %m[0, %i] [4, 4] [1, 1] : memref<8x8xi32> to memref<4x4xi32, strided<[8, 1], offset: ?>>
  %r = memref.reinterpret_cast %a to offset: [0], sizes: [4, 4], strides: [4, 1] : memref<16xi32> to memref<4x4xi32>
  %flat = memref.collapse_shape %m [[0, 1]] : memref<8x8xi32> into memref<64xi32>
  %deep = memref.expand_shape %flat [[0, 1]] output_shape [8, 8] : memref<64xi32> into memref<8x8xi32>
  %k = memref.cast %d : memref<?x8xi32> to memref<8x8xi32>
  memref.copy %k, %m : memref<8x8xi32> to memref<8x8xi32>
  %al = memref.assume_alignment %m, 32 : memref<8x8xi32>
  %p = memref.extract_aligned_pointer_as_index %m : memref<8x8xi32> -> index
  affine.for %x = 0 to 8 {
    affine.for %y = 2 to %i step 2 iter_args(%acc = %f) -> (f32) {
      %e = affine.load %m[%x, %y + 1] : memref<8x8xi32>
      affine.store %e, %m[%x, (%y - 1) mod 8] : memref<8x8xi32>
      affine.yield %acc : f32
    }
  }
  affine.for %z = max affine_map<(d0) -> (d0, 0)>(%i) to min affine_map<()[s0] -> (s0, 8)>()[%i] {
  }
  %ap = affine.apply affine_map<(d0)[s0] -> (d0 * 2 + s0)>(%i)[%c2]
  %v = vector.load %c[%i, %i] : memref<4x4xf32>, vector<4xf32>
  vector.store %v, %c[%i, %i] : memref<4x4xf32>, vector<4xf32>
  %tr = vector.transfer_read %c[%i, %i], %f {in_bounds = [true]} : memref<4x4xf32>, vector<4xf32>
  vector.transfer_write %tr, %c[%i, %i] {permutation_map = #map} : vector<4xf32>, memref<4x4xf32>
  %br = vector.broadcast %f : f32 to vector<4xf32>
  %ex = vector.extract %br[2] : f32 from vector<4xf32>
  %in = vector.insert %ex, %br[%i] : f32 into vector<4xf32>
  %fm = vector.fma %in, %br, %v : vector<4xf32>
  %sh = vector.shuffle %fm, %br [0, 5, 2, 7] : vector<4xf32>, vector<4xf32>
  %sc = vector.shape_cast %sh : vector<4xf32> to vector<2x2xf32>
  %re = vector.reduction <add>, %sh : vector<4xf32> into f32
  %rf = vector.reduction <mul>, %sh, %f fastmath<fast> : vector<4xf32> into f32
  %cm = vector.create_mask %i : vector<4xi1>
  %km = vector.constant_mask [3] : vector<4xi1>
  %ml = vector.maskedload %c[%i, %i], %cm, %v : memref<4x4xf32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
  vector.maskedstore %c[%i, %i], %km, %ml : memref<4x4xf32>, vector<4xi1>, vector<4xf32>
  %mr = vector.multi_reduction <add>, %sc, %f [0, 1] : vector<2x2xf32> to f32
  %id = index.add %i, %c2
  %ic = index.constant 5
  func.return
}
"""

LOWERED = """
module attributes {llvm.target_triple = "aie2"} {
  llvm.mlir.global external @buffer() {addr_space = 0 : i32} : !llvm.array<16 x array<4 x i32>>
  llvm.mlir.global internal constant @text("hi") {addr_space = 0 : i32} : !llvm.array<2 x i8>
  llvm.func @llvm.aie2.acquire(i32, i32) attributes {sym_visibility = "private"}
  llvm.func @pair() -> !llvm.struct<(i32, f32)>
  llvm.func internal @work(%arg0: !llvm.ptr, %arg1: i64) -> i32 {
    %0 = llvm.mlir.addressof @buffer : !llvm.ptr
    %1 = llvm.mlir.constant(48 : i32) : i32
    %2 = llvm.mlir.constant(2 : index) : i64
    %3 = llvm.getelementptr inbounds|nuw %0[0, %arg1] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<16 x array<4 x i32>>
    %4 = llvm.load %3 {alignment = 4 : i64} : !llvm.ptr -> i32
    llvm.store %4, %arg0 : i32, !llvm.ptr
    llvm.call @llvm.aie2.acquire(%1, %4) : (i32, i32) -> ()
    %5 = llvm.call @pair() : () -> !llvm.struct<(i32, f32)>
    %6 = llvm.extractvalue %5[1] : !llvm.struct<(i32, f32)>
    %7 = llvm.icmp "slt" %4, %1 : i32
    llvm.cond_br %7, ^bb1(%1 : i32), ^bb2
  ^bb1(%8: i32):
    %9 = llvm.add %8, %1 overflow<nsw> : i32
    llvm.br ^bb1(%9 : i32)
  ^bb2:
    llvm.return %4 : i32
  }
}
"""

TEXTS = {
    "fifo design": FIFO_DESIGN,
    "early 2026": EARLY_2026,
    "late 2026": LATE_2026,
    "physical": PHYSICAL,
    "traces": TRACES,
    "older routes": OLDER_ROUTES,
    "structured": STRUCTURED,
    "branches": BRANCHES,
    "numbers": NUMBERS,
    "memory": MEMORY,
    "lowered": LOWERED,
}
