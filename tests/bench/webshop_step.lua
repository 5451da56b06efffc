-- Load on POST /step of env_server with WebShop, for wrk: of four steps one is a search and three are
-- clicks. Start the server afresh, so that the sessions that the first requests create have the ids
-- 0 to 15, whose steps take turns after that:
--   env_server --task webshop --port 32361 &
--   wrk -t1 -c16 -d10s --latency -s tests/bench/webshop_step.lua http://127.0.0.1:32361
-- With "-- create" behind the URL it makes sessions instead, and closes each.

local sessions = 16
local json = { ["Content-Type"] = "application/json" }
local words = {
  "long lasting face cream", "blue running shoes", "gluten free snack", "wireless headphones black",
  "machine washable curtain", "stainless steel bottle 32 oz", "soft pillow queen", "green tea",
}
local create = nil
local only_create = false
local steps = {}
local sent = 0

init = function(args)
  only_create = args[1] == "create"
  create = wrk.format("POST", "/create", json, "")
  for i, text in ipairs(words) do
    for id = 0, sessions - 1 do
      for _, action in ipairs({ "search[" .. text .. "]", "click[next >]", "click[< prev]", "click[next >]" }) do
        local body = string.format('{"env_idx": %d, "action": "%s"}', id, action)
        steps[#steps + 1] = wrk.format("POST", "/step", json, body)
      end
    end
  end
end

request = function()
  sent = sent + 1
  if only_create then
    if sent % 2 == 1 then return create end
    return wrk.format("POST", "/close", json, string.format('{"env_idx": %d}', math.floor(sent / 2) - 1))
  end
  if sent <= sessions then
    return create
  end
  return steps[sent % #steps + 1]
end
