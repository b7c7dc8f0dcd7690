// The export `cutile_scale_residual`: out[i] = residual[i] + alpha * x[i] over flat tensors.
//
// A pointer kernel: the descriptors give address and length, nothing is borrowed as a `Tensor`.
// Generics of the entry, in order: E, BLOCK.

use core::ffi::c_void;
use cuda_async::device_buffer::DevicePointer;
use cuda_core::{Device, Stream};
use cutile::half::{bf16, f16};
use cutile::prelude::*;
use cutile::tile_kernel::{CompileOptions, TileKernel};

use crate::ffi_util::{TensorDesc, dtype_str};
use scale_residual_module::scale_residual_kernel;

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cutile_scale_residual(
    out: *const TensorDesc,
    x: *const TensorDesc,
    residual: *const TensorDesc,
    alpha: f32,
    // elements per block
    block: i32,
    // compile options; anything below 1 leaves the choice to the compiler
    num_cta_in_cga: i32,
    occupancy: i32,
    device_id: i32,
    raw_stream: u64,
) -> i32 {
    if out.is_null() || x.is_null() || residual.is_null() {
        return -5;
    }
    let (out, x, residual) = unsafe { (&*out, &*x, &*residual) };
    if x.dtype != out.dtype || residual.dtype != out.dtype {
        return -2;
    }
    let dty = match dtype_str(out.dtype) {
        Some(name) => name,
        None => return -2,
    };
    let n = out.dim(0);
    if n <= 0 || block <= 0 || x.dim(0) != n || residual.dim(0) != n {
        return -6;
    }
    let blocks = (n - 1) / block + 1;

    let device = match Device::new(device_id.max(0) as usize) {
        Ok(device) => device,
        Err(error) => {
            eprintln!("cutile_scale_residual: no device {device_id}: {error:?}");
            return -4;
        }
    };
    let stream = unsafe { Stream::borrow_raw(raw_stream as *mut c_void, &device) };

    macro_rules! dispatch {
        ($E:ty) => {{
            let out_ptr: DevicePointer<$E> = unsafe { DevicePointer::from_cu_deviceptr(out.ptr) };
            let x_ptr: DevicePointer<$E> = unsafe { DevicePointer::from_cu_deviceptr(x.ptr) };
            let residual_ptr: DevicePointer<$E> = unsafe { DevicePointer::from_cu_deviceptr(residual.ptr) };

            let opts = CompileOptions::default().occupancy(occupancy);

            let op = unsafe { scale_residual_kernel(out_ptr, x_ptr, residual_ptr, n, alpha) }
                .generics(vec![dty.to_string(), block.to_string()])
                .grid((blocks as u32, 1, 1))
                .compile_options(opts);
            match op.sync_on(&stream) {
                Ok(_) => 0,
                Err(error) => {
                    eprintln!("cutile_scale_residual: {error:?}");
                    -3
                }
            }
        }};
    }

    match dty {
        "f32" => dispatch!(f32),
        "f16" => dispatch!(f16),
        "bf16" => dispatch!(bf16),
        _ => -2,
    }
}
