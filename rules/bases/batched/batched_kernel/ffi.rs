// Export of batched: c[Q, M, N] = op(a) @ op(b); only the persistent variant transposes.

use core::ffi::c_void;
use cuda_core::{Device, Stream};
use cutile::half::{bf16, f16};
use cutile::prelude::*;
use cutile::tile_kernel::{CompileOptions, TileKernel};

use crate::ffi_util::{TensorDesc, borrow_tensor, rc};
use batched_module::{direct_kernel, persistent_kernel};

/// # Safety
/// The descriptors point at live tensors of one dtype, as they lie in memory.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cutile_batched(
    c: *const TensorDesc,
    a: *const TensorDesc,
    b: *const TensorDesc,
    bm: i32,
    bn: i32,
    bk: i32,
    trans_a: i32,
    trans_b: i32,
    persistent: i32,
    num_programs: i32,
    num_cta_in_cga: i32,
    occupancy: i32,
    device_id: i32,
    raw_stream: u64,
) -> i32 {
    let (c_d, a_d, b_d) = crate::deref_descs!(c, a, b);
    let dty = crate::resolve_dtype!(c_d);
    if a_d.dtype != c_d.dtype || b_d.dtype != c_d.dtype {
        return rc::UNSUPPORTED_DTYPE;
    }
    let (q, m, n) = (c_d.dim(0), c_d.dim(1), c_d.dim(2));
    let k = if trans_a != 0 { a_d.dim(1) } else { a_d.dim(2) };

    crate::setup_device_stream!(device, stream, device_id, raw_stream);

    macro_rules! launch {
        ($E:ty) => {{
            let c_t = unsafe { borrow_tensor::<$E>(c_d) };
            let a_t = unsafe { borrow_tensor::<$E>(a_d) };
            let b_t = unsafe { borrow_tensor::<$E>(b_d) };
            let opts = crate::compile_options!(occupancy, num_cta_in_cga);
            if persistent != 0 {
                let generics = vec![
                    dty.to_string(),
                    bm.to_string(),
                    bn.to_string(),
                    bk.to_string(),
                    trans_a.to_string(),
                    trans_b.to_string(),
                ];
                let op = unsafe { persistent_kernel(&*c_t, &*a_t, &*b_t, q, m, n, k) }
                    .generics(generics)
                    .grid((num_programs as u32, 1, 1))
                    .compile_options(opts);
                if op.sync_on(&stream).is_ok() { rc::OK } else { rc::LAUNCH_FAILED }
            } else {
                let generics = vec![dty.to_string(), bm.to_string(), bn.to_string(), bk.to_string()];
                let op = unsafe { direct_kernel(&*c_t, &*a_t, &*b_t, m, n, b_d.dim(1)) }
                    .generics(generics)
                    .grid((num_programs as u32, 1, 1))
                    .compile_options(opts);
                if op.sync_on(&stream).is_ok() { rc::OK } else { rc::LAUNCH_FAILED }
            }
        }};
    }

    crate::dispatch_by_dtype!(dty, launch, f32, f16, bf16)
}
