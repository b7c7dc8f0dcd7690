-- Run in a headless Neovim by test_neovim.py: opens both layers of an op, waits for their diagnostics, applies fixes, tells the outcome.
local given = vim.fn.json_decode(vim.env.CUTILE_LINT_TEST)
local told = { steps = {}, messages = {} }

local function finish(problem)
  told.problem = problem
  vim.fn.writefile({ vim.fn.json_encode(told) }, given.out)
  vim.cmd(problem and "cquit!" or "qall!")
end

local function codes(buffer)
  local found = {}
  for _, one in ipairs(vim.diagnostic.get(buffer)) do
    table.insert(found, one.code or (one.user_data and one.user_data.lsp and one.user_data.lsp.code) or "?")
  end
  table.sort(found)
  return found
end

local function until_true(what, test)
  if not vim.wait(60000, test, 20) then
    finish("waited in vain: " .. what)
  end
end

--- What vim.lsp.enable of 0.11 makes of a file in lsp/, for an editor before it.
local function enable(name)
  local config = dofile(vim.api.nvim_get_runtime_file("lsp/" .. name .. ".lua", false)[1])
  local clients = {}
  vim.api.nvim_create_autocmd("FileType", {
    pattern = config.filetypes,
    callback = function(event)
      config.root_dir(event.buf, function(root)
        local folders = { { uri = vim.uri_from_fname(root), name = root } }
        local own = { name = name, cmd = given.cmd, root_dir = root, workspace_folders = folders }
        clients[root] = clients[root] or vim.lsp.start_client(vim.tbl_extend("force", config, own))
        vim.lsp.buf_attach_client(event.buf, clients[root])
      end)
    end,
  })
end

--- Whether the server is told of a file; its filetype is the one given, else the one that the editor finds.
local function attached(file, filetype)
  vim.cmd("edit " .. vim.fn.fnameescape(given.folder .. "/" .. file))
  vim.bo.filetype = filetype or vim.bo.filetype
  return not vim.tbl_isempty(vim.lsp.buf_get_clients(0))
end

local function main()
  vim.opt.runtimepath:prepend(given.config)
  vim.lsp.handlers["window/showMessage"] = function(_, result)
    table.insert(told.messages, result.message)
  end
  local cutile = require("cutile-lint")
  if given.way == "setup" then
    cutile.setup({ cmd = given.cmd })
  else
    cutile.detect()
    enable("cutile_lint")
  end
  vim.cmd("filetype on")
  vim.cmd("edit " .. vim.fn.fnameescape(given.wrapper))
  local wrapper = vim.api.nvim_get_current_buf()
  vim.bo[wrapper].filetype = "python"
  vim.cmd("edit " .. vim.fn.fnameescape(given.ffi))
  local ffi = vim.api.nvim_get_current_buf()
  vim.bo[ffi].filetype = "rust"
  until_true("diagnostics in both files", function()
    return #vim.diagnostic.get(wrapper) > 0 and #vim.diagnostic.get(ffi) > 0
  end)
  told.before = { wrapper = codes(wrapper), ffi = codes(ffi) }

  -- the quick fix at the finding, as vim.lsp.buf.code_action() asks for it and applies it
  local at
  for _, one in ipairs(vim.diagnostic.get(ffi)) do
    local code = one.code or (one.user_data and one.user_data.lsp and one.user_data.lsp.code)
    if code == given.code then
      at = one
    end
  end
  vim.api.nvim_win_set_cursor(0, { at.lnum + 1, at.col })
  vim.ui.select = function(items, _, choose)
    for index, item in ipairs(items) do
      local action = item[2] or item.action or item
      if action.title:find(given.title, 1, true) then
        choose(item, index)
        return
      end
    end
    finish("no action " .. given.title)
  end
  local tick = vim.api.nvim_buf_get_changedtick(ffi)
  vim.lsp.buf.code_action()
  until_true("the quick fix", function()
    return vim.api.nvim_buf_get_changedtick(ffi) ~= tick
  end)
  told.quick = vim.api.nvim_buf_get_lines(ffi, 0, -1, false)
  until_true("the finding to go", function()
    return not vim.tbl_contains(codes(ffi), given.code)
  end)

  vim.cmd("buffer " .. wrapper)
  if given.way == "setup" then
    told.applied = cutile.fix_all(wrapper, 60000)
  else
    vim.cmd("CutileLintFixAll")
  end
  told.fixed = vim.api.nvim_buf_get_lines(wrapper, 0, -1, false)
  until_true("the fixed findings to go", function()
    return not vim.tbl_contains(codes(wrapper), "CTL101")
  end)
  told.attached = {}
  for _, file in ipairs({ "cutile-lint.toml", "pyproject.toml", "Cargo.toml", "analysis.json", "other.toml", "other.json" }) do
    told.attached[file] = attached(file, file:match("%a+$"))
  end
  for _, file in ipairs({ "new.mlir", "reference/reference.mlir" }) do
    told.attached[file] = attached(file) and vim.bo.filetype
  end
  local tile_ir = vim.api.nvim_get_current_buf()
  until_true("diagnostics in Tile IR", function()
    return #vim.diagnostic.get(tile_ir) > 0
  end)
  told.tile_ir = codes(tile_ir)
  -- a filetype that the user has given them stays
  if vim.fn.has("nvim-0.8") == 1 then
    vim.filetype.add({ extension = { mlir = "other" } })
  else
    vim.cmd("autocmd! filetypedetect BufNewFile *.mlir setfiletype other")
  end
  cutile.detect()
  vim.cmd("edit " .. vim.fn.fnameescape(given.folder .. "/others.mlir"))
  told.others = vim.bo.filetype
  told.after = { wrapper = codes(wrapper), ffi = codes(ffi) }
  finish()
end

local ok, problem = pcall(main)
if not ok then
  finish(tostring(problem))
end
