// Export of row_scale: y[r, c] = x[r, c] * scale[r].

use core::ffi::c_void;
use cuda_core::{Device, Stream};
use cutile::half::{bf16, f16};
use cutile::prelude::*;
use cutile::tile_kernel::{CompileOptions, TileKernel};

use crate::ffi_util::{TensorDesc, borrow_tensor, rc};
use row_scale_module::row_scale_kernel;

/// # Safety
/// The descriptors point at live tensors of one dtype: y and x [m, n], scale [m].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cutile_row_scale(
    y: *const TensorDesc,
    x: *const TensorDesc,
    scale: *const TensorDesc,
    bm: i32,
    bn: i32,
    grid_size: i32,
    // <= 0: left to the compiler
    num_cta_in_cga: i32,
    occupancy: i32,
    device_id: i32,
    raw_stream: u64,
) -> i32 {
    let (y_d, x_d, scale_d) = crate::deref_descs!(y, x, scale);
    let dty: &'static str = crate::resolve_dtype!(x_d);

    crate::setup_device_stream!(device, stream, device_id, raw_stream);

    macro_rules! dispatch {
        ($E:ty) => {{
            let y_t = unsafe { borrow_tensor::<$E>(y_d) };
            let x_t = unsafe { borrow_tensor::<$E>(x_d) };
            let scale_t = unsafe { borrow_tensor::<$E>(scale_d) };

            // <E, BM, BN>
            let generics = vec![dty.to_string(), bm.to_string(), bn.to_string()];
            let opts = crate::compile_options!(occupancy, num_cta_in_cga);

            let op = unsafe { row_scale_kernel(&*y_t, &*x_t, &*scale_t) }
                .generics(generics)
                .grid((grid_size as u32, 1, 1))
                .compile_options(opts);
            match op.sync_on(&stream) {
                Ok(_) => rc::OK,
                Err(e) => {
                    eprintln!("cutile_row_scale: {e:?}");
                    rc::LAUNCH_FAILED
                }
            }
        }};
    }

    crate::dispatch_by_dtype!(dty, dispatch, f32, f16, bf16)
}
