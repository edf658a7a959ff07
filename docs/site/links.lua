-- links.lua -- for pandoc: links between the Markdown files become links between the pages of the site, and show their titles. `at` is the folder of
-- the file from the top of the source tree ("docs/", "lib/", ""). Tables get a box in which they scroll on narrow screens.
local at = pandoc.utils.stringify(PANDOC_WRITER_OPTIONS.variables["at"] or "")

-- Returns the path of `target`, as written in the file, from the top of the source tree.
local function from_top(target)
    local path = at .. target
    local before
    repeat
        before = path
        path = path:gsub("[^/.]+/%.%./", "", 1)
    until path == before
    return path
end

-- The name of a page: docs/cost.md is cost.html, CHANGELOG.md changelog.html, lib/README.md lib.html, README.md index.html.
local function page(path)
    local name = path:gsub("%.md$", ""):gsub("^docs/", ""):gsub("^generated/", ""):gsub("^lib/README$", "lib")
    return (name == "README" and "index" or name == "CHANGELOG" and "changelog" or name) .. ".html"
end

local function moved(target)
    if target:match("^%a+:") or target:match("^#") then return target end
    local file, anchor = target:match("^([^#]*)(.*)$")
    local path = from_top(file)
    if path:match("%.md$") then return page(path) .. anchor end
    return (path:gsub("^docs/", ""):gsub("^generated/", ""))
end

-- The first heading of a file, given by its path from the top of the source tree.
local function title(path)
    for line in io.lines(path) do
        local found = line:match("^# (.+)$")
        if found then return found end
    end
end

-- A link whose text is the name of a file gets the title of the page instead.
function Link(link)
    local file = link.target:match("^([^#:]+%.md)")
    if file and pandoc.utils.stringify(link.content):match("^[%w/.-]+%.md$") then
        link.content = {pandoc.Str(title(from_top(file)))}
    end
    link.target = moved(link.target)
    return link
end

function Image(image)
    image.src = moved(image.src)
    return image
end

function Table(t)
    return pandoc.Div({t}, {class = "wide"})
end

-- Adds the headings of a page to the list that search.js searches.
local function list(blocks)
    local file = PANDOC_STATE.output_file
    local index = io.open((file:gsub("[^/]*$", "search.js")), "a")
    local title
    for _, block in ipairs(blocks) do
        if block.t == "Header" then
            local heading = pandoc.utils.stringify(block)
            local at = title and "#" .. block.identifier or ""
            title = title or heading
            index:write(string.format("[%q, %q, %q],\n", file:match("[^/]*$") .. at, heading, title))
        end
    end
    index:close()
end

-- The first heading is the title of the page.
function Pandoc(doc)
    list(doc.blocks)
    for i, block in ipairs(doc.blocks) do
        if block.t == "Header" and block.level == 1 then
            doc.meta.title = block.content
            table.remove(doc.blocks, i)
            break
        end
    end
    return doc
end
