"""What functions and methods of PyTorch do on the device, by name.

Sources: the PyTorch 2.x reference ("Creation Ops", "Tensor views", "Indexing, Slicing, Joining, Mutating Ops").
"""

from __future__ import annotations


def names(text: str) -> frozenset[str]:
    """The names in a text, apart by blanks."""
    return frozenset(text.split())


#: Writes a constant or generated pattern: a fill kernel.
FILLS = names("""
    zeros ones full zeros_like ones_like full_like arange range linspace logspace eye tensor rand randn randint
    randperm rand_like randn_like randint_like normal bernoulli as_tensor scalar_tensor complex tril_indices
    triu_indices
""")
FILL_METHODS = names("""
    zero_ fill_ new_zeros new_ones new_full new_tensor normal_ uniform_ random_ bernoulli_ exponential_ log_normal_
    cauchy_ geometric_ fill_diagonal_
""")
#: Fills of a new tensor whose device is that of an argument.
LIKE = names("zeros_like ones_like full_like rand_like randn_like randint_like empty_like")

#: Moves the data of a tensor to other memory.
COPIES = names("""
    clone cat concat concatenate stack hstack vstack dstack column_stack row_stack tile repeat_interleave flip fliplr
    flipud roll rot90 block_diag
""")
COPY_METHODS = names("""
    clone contiguous to type float half bfloat16 double int long short char byte bool type_as cuda copy_ repeat tile
    repeat_interleave flip roll index_copy_ masked_scatter_ set_data resolve_conj
""")

#: Copies and conversions that give a contiguous tensor for a contiguous one.
KEEP_LAYOUT = names("clone to type float half bfloat16 double int long short char byte bool type_as cuda")

ALLOCATIONS = names("empty empty_like empty_strided empty_permuted")
ALLOCATION_METHODS = names("new_empty new_empty_strided new")

VIEWS = names("""
    view view_as transpose permute t unsqueeze squeeze expand expand_as narrow select flatten unflatten as_strided
    detach detach_ chunk split unbind tensor_split diagonal movedim moveaxis swapaxes swapdims unfold requires_grad_
    view_as_real view_as_complex hsplit vsplit dsplit adjoint broadcast_to ravel reshape reshape_as squeeze_
    unsqueeze_ t_ transpose_ alias positive real
""")
VIEW_ATTRIBUTES = names("T mT H mH data real imag")
#: Views only when the tensor's strides allow it; else they copy.
PERHAPS_COPIES = names("reshape reshape_as flatten ravel")

#: Makes the host wait for the device.
SYNC_METHODS = names("item tolist cpu numpy synchronize")
#: Methods of streams and events that wait …
WAITS = names("synchronize wait wait_event wait_stream")
#: … and the functions that give such an object, by the end of their name.
STREAMS_AND_EVENTS = ("Event", "Stream", "current_stream", "default_stream", "get_stream_from_external")

METADATA_METHODS = names("""
    size dim ndimension numel nelement stride is_contiguous element_size data_ptr get_device storage_offset
    is_floating_point is_complex is_pinned untyped_storage storage is_set_to record_stream register_hook retain_grad
    is_inference dim_order is_signed backward __class__
""")
#: Functions of the torch package that set or ask a state of the process.
HOST_PREFIXES = ("set_", "get_", "use_", "are_", "is_")
#: Functions of the torch package that do no device work.
HOST_FUNCTIONS = names("""
    device dtype Size is_tensor is_grad_enabled is_inference_mode_enabled no_grad inference_mode enable_grad
    set_grad_enabled finfo iinfo is_floating_point is_complex numel result_type promote_types can_cast
    get_default_dtype get_device Generator manual_seed broadcast_shapes is_autocast_enabled autocast compile typename
    is_storage get_rng_state set_printoptions from_numpy _assert is_inference Tensor
""")
#: Functions of packages that else do no device work: they compare tensors, and look at the answer.
COMPARISONS = names("torch.testing.assert_close torch.testing.assert_allclose")
HOST_PACKAGES = (
    "torch.cuda.", "torch.backends.", "torch.profiler.", "torch.autograd.", "torch.utils.", "torch.compiler.", "torch._dynamo.",
    "torch.distributed.", "torch.version", "torch.jit.", "torch.library.", "torch._C", "torch.overrides.", "torch.testing.",
    "torch.types.", "torch.Tensor",
)  # fmt: skip

#: Methods that only tensors have: calling one shows that the object is a tensor. (Others need more evidence: ``sum``, ``index``, ``copy``…)
TENSOR_METHODS = names("""
    clone contiguous detach bfloat16 half unsqueeze squeeze permute transpose mul_ add_ zero_ fill_ copy_
    requires_grad_ data_ptr numel is_contiguous new_zeros new_empty new_ones new_full type_as expand_as view_as
    masked_fill masked_fill_ softmax log_softmax matmul bmm mm addmm index_select index_add_ scatter_add_
    repeat_interleave as_strided rsqrt sigmoid tanh relu gelu logsumexp amax amin cumsum triu tril item tolist
""")
#: Methods that compute on the device.
COMPUTE_METHODS = names("""
    matmul mm bmm addmm baddbmm addbmm mv dot outer sum mean std var prod norm max min amax amin argmax argmin all any
    softmax log_softmax sigmoid tanh relu gelu silu exp exp2 log log2 sqrt rsqrt pow square abs neg add sub mul div
    add_ sub_ mul_ div_ clamp clamp_ clamp_min clamp_max masked_fill masked_fill_ where gather scatter scatter_
    scatter_add_ sort topk cumsum cumprod index_select index_add_ index_put_ masked_select triu tril einsum round
    floor ceil sign eq ne lt le gt ge logical_and logical_or logical_not reciprocal erf sin cos logsumexp nan_to_num
    nan_to_num_ isnan isinf isfinite median unique kthvalue lerp addcmul addcdiv exp_ sqrt_ rsqrt_ sigmoid_ tanh_
    relu_ neg_ pow_ abs_ round_ maximum minimum fmod remainder true_divide floor_divide bitwise_and bitwise_or
    bitwise_xor bitwise_not diff histc bincount dist cross nonzero equal allclose conj flip_ cummax cummin argsort
    quantile trace inverse det fill relu6 count_nonzero index_fill_ index_fill take take_along_dim put_ renorm conv2d
    logaddexp softplus
""")
