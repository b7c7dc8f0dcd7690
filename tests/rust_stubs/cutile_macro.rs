//! Stub of the attribute macros: a device module becomes one host function per entry.

extern crate proc_macro;

use proc_macro::{Delimiter, Group, TokenStream, TokenTree};

/// Keeps only the host face of a device module; helper functions and imports are device code and go.
#[proc_macro_attribute]
pub fn module(_options: TokenStream, item: TokenStream) -> TokenStream {
    let mut head = Vec::new();
    let mut host = String::from("#[allow(unused_imports)] use ::cutile::half::{bf16, f16};\n");
    for token in item {
        match token {
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => host.push_str(&entries(&group)),
            other => head.push(other),
        }
    }
    let body: TokenStream = host.parse().expect("stub module");
    head.push(TokenTree::Group(Group::new(Delimiter::Brace, body)));
    head.into_iter().collect()
}

/// Outside a module an entry is left as it is.
#[proc_macro_attribute]
pub fn entry(_options: TokenStream, item: TokenStream) -> TokenStream {
    item
}

fn entries(module_body: &Group) -> String {
    let tokens: Vec<TokenTree> = module_body.stream().into_iter().collect();
    let mut host = String::new();
    let mut at = 0;
    let mut is_entry = false;
    let mut is_unsafe = false;
    while at < tokens.len() {
        match &tokens[at] {
            TokenTree::Group(group) if group.delimiter() == Delimiter::Bracket && starts_entry(group) => is_entry = true,
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => (is_entry, is_unsafe) = (false, false),
            TokenTree::Ident(word) if word.to_string() == "unsafe" => is_unsafe = true,
            TokenTree::Ident(word) if word.to_string() == "fn" && is_entry => {
                host.push_str(&host_function(&tokens[at + 1..], is_unsafe));
            }
            _ => {}
        }
        at += 1;
    }
    host
}

/// `cutile::entry(...)`: with parentheses only, as version 0.2 wants it.
fn starts_entry(attribute: &Group) -> bool {
    let text = attribute.stream().to_string().replace(' ', "");
    text.starts_with("cutile::entry(")
}

/// From `name<generics>(parameters)` the host function of the same name.
fn host_function(tokens: &[TokenTree], is_unsafe: bool) -> String {
    let name = tokens[0].to_string();
    let parameters = tokens
        .iter()
        .find_map(|token| match token {
            TokenTree::Group(group) if group.delimiter() == Delimiter::Parenthesis => Some(group.stream()),
            _ => None,
        })
        .expect("entry parameters");
    let mut generics = Vec::new();
    for part in split(generic_tokens(tokens)) {
        if part.first().map(|word| word.to_string()) != Some("const".into()) && !part.is_empty() {
            generics.push(format!("{}: ::cutile::prelude::DType", part[0]));
        }
    }
    let parameters: Vec<String> = split(parameters.into_iter().collect()).iter().filter_map(|part| parameter(part)).collect();
    format!(
        "{} #[allow(clippy::too_many_arguments, unused_variables, clippy::missing_safety_doc)] pub {}fn {}<{}>({}) -> ::cutile::tile_kernel::Launch {{ ::std::default::Default::default() }}\n",
        "#[must_use]",
        if is_unsafe { "unsafe " } else { "" },
        name,
        generics.join(", "),
        parameters.join(", "),
    )
}

fn generic_tokens(tokens: &[TokenTree]) -> Vec<TokenTree> {
    let mut inside = Vec::new();
    let mut depth = 0;
    for token in &tokens[1..] {
        match token {
            TokenTree::Punct(mark) if mark.as_char() == '<' => {
                depth += 1;
                if depth == 1 {
                    continue;
                }
            }
            TokenTree::Punct(mark) if mark.as_char() == '>' => depth -= 1,
            TokenTree::Group(group) if depth == 0 && group.delimiter() == Delimiter::Parenthesis => break,
            _ => {}
        }
        if depth == 0 {
            break;
        }
        inside.push(token.clone());
    }
    inside
}

/// Split at the commas outside of `<…>`.
fn split(tokens: Vec<TokenTree>) -> Vec<Vec<TokenTree>> {
    let mut parts = vec![Vec::new()];
    let mut depth = 0;
    for token in tokens {
        if let TokenTree::Punct(mark) = &token {
            match mark.as_char() {
                '<' => depth += 1,
                '>' => depth -= 1,
                ',' if depth == 0 => {
                    parts.push(Vec::new());
                    continue;
                }
                _ => {}
            }
        }
        parts.last_mut().expect("one part").push(token);
    }
    parts
}

fn parameter(tokens: &[TokenTree]) -> Option<String> {
    let colon = tokens.iter().position(|token| token.to_string() == ":")?;
    let name = tokens[colon - 1].to_string();
    Some(format!("{}: {}", name, host_type(&tokens[colon + 1..])))
}

/// The host type of a device parameter.
fn host_type(tokens: &[TokenTree]) -> String {
    let words: Vec<String> = tokens.iter().map(|token| token.to_string()).collect();
    match words[0].as_str() {
        "*" => format!("::cuda_async::device_buffer::DevicePointer<{}>", words[2]),
        "&" => {
            let at = words.iter().position(|word| word == "<").expect("tensor element");
            let borrow = if words[1] == "mut" { "&mut" } else { "&" };
            format!("{} ::cutile::tensor::Tensor<{}>", borrow, words[at + 1])
        }
        _ => words.join(""),
    }
}
