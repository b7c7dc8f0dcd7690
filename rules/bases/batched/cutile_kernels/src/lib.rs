//! All kernels of the suite in one library.

#[path = "../../ffi_util.rs"]
mod ffi_util;

mod batched {
    include!("../../batched_kernel/kernel.rs");
    include!("../../batched_kernel/ffi.rs");
}
