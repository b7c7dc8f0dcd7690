#[path = "../../../../../ops/cutile_rs/ffi_util.rs"]
mod ffi_util;

mod splitk_product {
    include!("../../rust/splitk_device.rs");
    include!("../../rust/splitk_export.rs");
}
