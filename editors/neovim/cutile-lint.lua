-- cutile-lint in Neovim from 0.7 on. Put this file into lua/ of your configuration and say
--   require("cutile-lint").setup()            -- or setup({ cmd = {...}, settings = {...} })
-- or, from 0.11 on, put lsp/cutile_lint.lua beside it into lsp/ and say
--   require("cutile-lint").detect()
--   vim.lsp.enable("cutile_lint")

local M = {}

local FIX_ALL = "source.fixAll.cutile-lint"

M.filetypes = { "python", "rust", "mlir", "toml", "json" }
--- The TOML and JSON files that the server reads.
M.files = { "cutile-lint.toml", "pyproject.toml", "Cargo.toml", "analysis.json" }
M.root_markers = { "cutile-lint.toml", "pyproject.toml", ".git" }

local defaults = { cmd = { "cutile-lint", "server" }, settings = vim.empty_dict() }

--- Whether a buffer is a file that the server reads.
function M.wants(buffer)
  local name, kind = vim.api.nvim_buf_get_name(buffer), vim.bo[buffer].filetype
  if name == "" or vim.bo[buffer].buftype ~= "" then
    return false
  end
  return (kind ~= "toml" and kind ~= "json") or vim.tbl_contains(M.files, vim.fn.fnamemodify(name, ":t"))
end

--- The nearest folder at or above a file that holds a root marker; the file's own folder when there is none.
function M.root_of(file)
  local folder = vim.fn.fnamemodify(file, ":p:h")
  local at = folder
  while true do
    for _, marker in ipairs(M.root_markers) do
      local path = at .. "/" .. marker
      if vim.fn.filereadable(path) == 1 or vim.fn.isdirectory(path) == 1 then
        return at
      end
    end
    local above = vim.fn.fnamemodify(at, ":h")
    if above == at then
      return folder
    end
    at = above
  end
end

local clients = {}

--- Start the server for a buffer, or attach to the one that its root has already.
function M.attach(buffer, options)
  if not M.wants(buffer) then
    return
  end
  local root = options.root_dir or M.root_of(vim.api.nvim_buf_get_name(buffer))
  local id = clients[root]
  if id == nil or vim.lsp.get_client_by_id(id) == nil then
    id = vim.lsp.start_client({
      name = "cutile-lint",
      cmd = options.cmd,
      root_dir = root,
      workspace_folders = { { uri = vim.uri_from_fname(root), name = root } },
      init_options = { settings = options.settings },
      settings = { ["cutile-lint"] = options.settings },
      on_attach = options.on_attach,
      on_exit = function()
        clients[root] = nil
      end,
    })
    clients[root] = id
  end
  if id ~= nil then
    vim.lsp.buf_attach_client(buffer, id)
  end
end

--- Apply all safe fixes of the buffer's findings; returns whether there was something to apply.
function M.fix_all(buffer, timeout)
  buffer = (buffer == nil or buffer == 0) and vim.api.nvim_get_current_buf() or buffer
  timeout = timeout or 10000
  local params = {
    textDocument = vim.lsp.util.make_text_document_params(buffer),
    range = { start = { line = 0, character = 0 }, ["end"] = { line = 0, character = 0 } },
    context = { only = { FIX_ALL }, diagnostics = {} },
  }
  local applied = false
  for id, answer in pairs(vim.lsp.buf_request_sync(buffer, "textDocument/codeAction", params, timeout) or {}) do
    local client = vim.lsp.get_client_by_id(id)
    for _, action in ipairs(answer.result or {}) do
      if client and action.kind == FIX_ALL then
        if not action.edit then
          local resolved = vim.lsp.buf_request_sync(buffer, "codeAction/resolve", action, timeout) or {}
          action = resolved[id] and resolved[id].result or action
        end
        if action.edit then
          vim.lsp.util.apply_workspace_edit(action.edit, client.offset_encoding)
          applied = true
        end
      end
    end
  end
  return applied
end

--- Have Tile IR's files known as such, where the editor knows no filetype of them.
function M.detect()
  if vim.fn.has("nvim-0.8") == 0 then -- before, vim.filetype.add is there, but by default nothing heeds it
    local group = vim.api.nvim_create_augroup("cutile-lint-filetype", { clear = true })
    local detected = { group = group, pattern = "*.mlir", command = "setfiletype mlir" }
    vim.api.nvim_create_autocmd({ "BufRead", "BufNewFile" }, detected)
  elseif not vim.filetype.match({ filename = "kernel.mlir" }) then
    vim.filetype.add({ extension = { mlir = "mlir" } })
  end
end

--- Make `:CutileLintFixAll`.
function M.make_command()
  vim.api.nvim_create_user_command("CutileLintFixAll", function()
    M.fix_all()
  end, { desc = "apply all safe fixes of cutile-lint" })
end

function M.setup(options)
  options = vim.tbl_deep_extend("force", defaults, options or {})
  local group = vim.api.nvim_create_augroup("cutile-lint", { clear = true })
  vim.api.nvim_create_autocmd("FileType", {
    group = group,
    pattern = M.filetypes,
    callback = function(event)
      M.attach(event.buf, options)
    end,
  })
  M.detect()
  M.make_command()
end

return M
