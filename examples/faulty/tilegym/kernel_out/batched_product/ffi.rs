// The export `cutile_batched_product`: C[Q, M, N] = op(A) @ op(B) per batch.
//
//   variant 1, persistent: E, BM, BN, BK, TRANSPOSE_A, TRANSPOSE_B; the tensors are passed as they lie in memory
//   variant 0, direct:     E, BM, BN, BK; no transposes

use cutile::half::{bf16, f16};
use cutile::prelude::*;
use cutile::tile_kernel::{CompileOptions, TileKernel};

use crate::ffi_util::{TensorDesc, borrow_tensor, outcome, rc};
use batched_product_module::{direct_batched_product, persistent_batched_product};

/// Compile options as the wrapper wants them.
fn compile_options(num_cta_in_cga: i32, occupancy: i32) -> CompileOptions {
    let opts = CompileOptions::default().num_cta_in_cga(num_cta_in_cga);
    if occupancy > 0 { opts.occupancy(occupancy) } else { opts }
}

/// The same memory with the two inner axes exchanged.
fn swap_inner(desc: &TensorDesc) -> TensorDesc {
    let (mut shape, mut strides) = (desc.shape, desc.strides);
    shape.swap(1, 2);
    strides.swap(1, 2);
    TensorDesc { ptr: desc.ptr, ndim: desc.ndim, shape, strides, dtype: desc.dtype }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cutile_batched_product(
    // a: [Q, M, K], or [Q, K, M] under transpose_a; b: [Q, K, N], or [Q, N, K] under transpose_b
    c: *const TensorDesc,
    a: *const TensorDesc,
    b: *const TensorDesc,
    bm: i32,
    bn: i32,
    bk: i32,
    transpose_a: i32,
    transpose_b: i32,
    variant: i32,
    num_programs: i32,
    num_cta_in_cga: i32,
    occupancy: i32,
    device_id: i32,
    raw_stream: u64,
) -> i32 {
    crate::lend_descs!(c, a, b);
    let dty = crate::element_name!(c);
    if a.dtype != c.dtype || b.dtype != c.dtype {
        return rc::UNSUPPORTED_DTYPE;
    }
    let (q, m, n) = (c.dim(0), c.dim(1), c.dim(2));
    if q <= 0 || m <= 0 || n <= 0 || num_programs <= 0 {
        return rc::INVALID_ARGS;
    }

    crate::caller_stream!(stream, device_id, raw_stream);

    macro_rules! launch {
        ($E:ty) => {{
            let a_t = unsafe { borrow_tensor::<$E>(a) };
            let b_t = unsafe { borrow_tensor::<$E>(b) };
            let c_t = unsafe { borrow_tensor::<$E>(c) };
            let opts = compile_options(num_cta_in_cga, occupancy);
            let mut generics = vec![dty.to_string(), bm.to_string(), bn.to_string(), bk.to_string()];
            if variant == 0 {
                let op = unsafe { direct_batched_product(&*c_t, &*a_t, &*b_t, m, n, a.dim(2)) }
                    .generics(generics)
                    .grid((num_programs as u32, 1, 1))
                    .compile_options(opts);
                outcome("cutile_batched_product (direct)", op.sync_on(&stream))
            } else {
                let k = if transpose_a != 0 { a.dim(1) } else { a.dim(2) };
                let a_t = if transpose_a != 0 { unsafe { borrow_tensor::<$E>(&swap_inner(a)) } } else { a_t };
                generics.push(transpose_a.to_string());
                generics.push(transpose_b.to_string());
                let op = unsafe { persistent_batched_product(&*c_t, &*a_t, &*b_t, q, m, n, k) }
                    .generics(generics)
                    .grid((num_programs as u32, 1, 1))
                    .compile_options(opts);
                outcome("cutile_batched_product (persistent)", op.sync_on(&stream))
            }
        }};
    }

    crate::by_element!(dty, launch, f32, f16, bf16)
}
