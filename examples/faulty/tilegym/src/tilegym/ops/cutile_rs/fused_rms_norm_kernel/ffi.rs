// The export `cutile_fused_rms_norm`: h = x + residual and out = h / rms(h) * weight, row by row.
//
// Generics of the entry, in order: E, BM, BN. BN covers a whole row, BM rows make one block.

use cutile::half::{bf16, f16};
use cutile::prelude::*;
use cutile::tile_kernel::TileKernel;

use crate::ffi_util::{TensorDesc, borrow_tensor, outcome, rc};
use fused_rms_norm_module::fused_rms_norm_kernel;

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cutile_fused_rms_norm(
    // all [rows, cols] but the weight, which is [cols]
    out: *const TensorDesc,
    hidden: *const TensorDesc,
    x: *const TensorDesc,
    residual: *const TensorDesc,
    weight: *const TensorDesc,
    eps: f32,
    bm: i32,
    bn: i32,
    num_cta_in_cga: i32,
    occupancy: i32,
    device_id: i32,
    raw_stream: u64,
) -> i32 {
    crate::lend_descs!(out, hidden, x, residual, weight);
    let dty = crate::element_name!(x);
    for other in [out, hidden, residual, weight] {
        if other.dtype != x.dtype {
            return rc::UNSUPPORTED_DTYPE;
        }
    }
    let rows = x.dim(0);
    let cols = x.dim(1);
    if rows <= 0 || cols <= 0 || bm <= 0 || bn < cols || weight.dim(0) != cols {
        return rc::INVALID_ARGS;
    }
    let blocks = (rows - 1) / bm + 1;
    let inv_cols = 1.0 / cols as f32;

    crate::caller_stream!(stream, device_id, raw_stream);

    macro_rules! launch {
        ($E:ty) => {{
            let out_t = unsafe { borrow_tensor::<$E>(out) };
            let hidden_t = unsafe { borrow_tensor::<$E>(hidden) };
            let x_t = unsafe { borrow_tensor::<$E>(x) };
            let residual_t = unsafe { borrow_tensor::<$E>(residual) };
            let weight_t = unsafe { borrow_tensor::<$E>(weight) };
            let op = unsafe {
                fused_rms_norm_kernel(&*out_t, &*hidden_t, &*x_t, &*residual_t, &*weight_t, inv_cols, eps)
            }
            .generics(vec![dty.to_string(), bm.to_string(), bn.to_string()])
            .grid((blocks as u32, 1, 1))
            .compile_options(crate::launch_options!(num_cta_in_cga, 0));
            outcome("cutile_fused_rms_norm", op.sync_on(&stream))
        }};
    }

    crate::by_element!(dty, launch, f32, f16, bf16)
}
