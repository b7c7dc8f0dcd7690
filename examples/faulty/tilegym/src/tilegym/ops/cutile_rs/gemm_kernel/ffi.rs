// The export `cutile_gemm`: C[M, N] = alpha * A[M, K] @ B[K, N], in two variants.
//
//   persistent: as many programs as the device holds, each strides over the tiles; E, BM, BN, BK, GROUP_M
//   direct:     one program per tile;                                              E, BM, BN, BK

use cutile::half::{bf16, f16};
use cutile::prelude::*;
use cutile::tile_kernel::TileKernel;

use crate::ffi_util::{TensorDesc, borrow_tensor, outcome, rc};
use gemm_module::{direct_gemm_kernel, persistent_gemm_kernel};

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cutile_gemm(
    c: *const TensorDesc,
    a: *const TensorDesc,
    b: *const TensorDesc,
    alpha: f32,
    bm: i32,
    bn: i32,
    bk: i32,
    group_m: i32,
    // 1: persistent, 0: direct
    persistent: i32,
    num_programs: i32,
    num_cta_in_cga: i32,
    occupancy: i32,
    device_id: i32,
    raw_stream: u64,
) -> i32 {
    crate::lend_descs!(c, a, b);
    let dty = crate::element_name!(a);
    if b.dtype != a.dtype || c.dtype != a.dtype {
        return rc::UNSUPPORTED_DTYPE;
    }
    let (m, n, k) = (c.dim(0), c.dim(1), a.dim(1));
    if m <= 0 || n <= 0 || k <= 0 || num_programs <= 0 {
        return rc::INVALID_ARGS;
    }

    crate::caller_stream!(stream, device_id, raw_stream);

    macro_rules! launch {
        ($E:ty) => {{
            let a_t = unsafe { borrow_tensor::<$E>(a) };
            let b_t = unsafe { borrow_tensor::<$E>(b) };
            let c_t = unsafe { borrow_tensor::<$E>(c) };
            let options = crate::launch_options!(num_cta_in_cga, occupancy);
            let grid = (num_programs as u32, 1, 1);

            if persistent != 0 {
                let generics = vec![
                    dty.to_string(),
                    bm.to_string(),
                    bn.to_string(),
                    bk.to_string(),
                    group_m.to_string(),
                ];
                let op = unsafe { persistent_gemm_kernel(&*c_t, &*a_t, &*b_t, m, n, k, alpha) }
                    .generics(generics)
                    .grid(grid)
                    .compile_options(options);
                outcome("cutile_gemm (persistent)", op.sync_on(&stream))
            } else {
                let generics = vec![dty.to_string(), bm.to_string(), bn.to_string(), bk.to_string()];
                let op = unsafe { direct_gemm_kernel(&*c_t, &*a_t, &*b_t, n, k, alpha) }
                    .generics(generics)
                    .grid(grid);
                outcome("cutile_gemm (direct)", op.sync_on(&stream))
            }
        }};
    }

    crate::by_element!(dty, launch, f32, f16, bf16)
}
