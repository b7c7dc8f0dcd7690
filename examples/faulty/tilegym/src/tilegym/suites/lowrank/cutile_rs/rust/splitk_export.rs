// The export `cutile_splitk_product`: C[M, N] += A[M, K] @ B[K, N], cut along K into split_k slices.
//
// C crosses as a bare f32 pointer, for the atomics; A and B are borrowed as tensors.
// Generics of the entry, in order: E, BM, BN, BK, SPLIT_K.

use cuda_async::device_buffer::DevicePointer;
use cutile::half::{bf16, f16};
use cutile::prelude::*;
use cutile::tile_kernel::{CompileOptions, TileKernel};

use crate::ffi_util::{TensorDesc, borrow_tensor, dtype_str, outcome, rc};
use splitk_product_module::splitk_product_kernel;

const F32: i32 = 0;

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cutile_splitk_product(
    c: *const TensorDesc,
    a: *const TensorDesc,
    b: *const TensorDesc,
    bm: i32,
    bn: i32,
    bk: i32,
    split_k: i32,
    num_cta_in_cga: i32,
    occupancy: i32,
    device_id: i32,
    raw_stream: u64,
) -> i32 {
    let (Some(c), Some(a), Some(b)) = (unsafe { c.as_ref() }, unsafe { a.as_ref() }, unsafe { b.as_ref() }) else {
        return rc::NULL_PTR;
    };
    if c.dtype != F32 || b.dtype != a.dtype {
        return rc::UNSUPPORTED_DTYPE;
    }
    let Some(dty) = dtype_str(a.dtype) else {
        return rc::UNSUPPORTED_DTYPE;
    };
    let (m, n, k) = (c.dim(0), c.dim(1), a.dim(1));
    if m <= 0 || n <= 0 || k <= 0 || bm <= 0 || bn <= 0 || split_k <= 0 {
        return rc::INVALID_ARGS;
    }
    let tiles_m = (m - 1) / bm + 1;
    let tiles_n = (n - 1) / bn + 1;

    crate::caller_stream!(stream, device_id, raw_stream);

    macro_rules! launch {
        ($E:ty) => {{
            let a_t = unsafe { borrow_tensor::<$E>(a) };
            let b_t = unsafe { borrow_tensor::<$E>(b) };
            let c_ptr: DevicePointer<f32> = unsafe { DevicePointer::from_cu_deviceptr(c.ptr) };
            let mut opts = CompileOptions::default();
            if occupancy > 0 {
                opts = opts.occupancy(occupancy);
            }
            if num_cta_in_cga > 0 {
                opts.clone().num_cta_in_cga(num_cta_in_cga);
            }
            let op = unsafe { splitk_product_kernel(c_ptr, &*a_t, &*b_t, m, n, k) }
                .compile_options(opts)
                .grid((tiles_m as u32, tiles_n as u32, split_k as u32))
                .generics(vec![
                    dty.to_string(),
                    bm.to_string(),
                    bn.to_string(),
                    bk.to_string(),
                    split_k.to_string(),
                ]);
            outcome("cutile_splitk_product", op.sync_on(&stream))
        }};
    }

    crate::by_element!(dty, launch, f16, bf16)
}
