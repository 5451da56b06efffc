-- Load on POST /step of env_server, for wrk. Start the server afresh, so that the sessions that the
-- first requests create have the ids 0 to 15, whose steps take turns after that:
--   env_server --task textcraft --port 32361 &
--   wrk -t1 -c16 -d10s --latency -s tests/bench/textcraft_step.lua http://127.0.0.1:32361

local sessions = 16
local json = { ["Content-Type"] = "application/json" }
local actions = { "get 2 oak log", "inventory", "craft 4 stick using 2 oak planks", "look" }
local create
local steps = {}
local sent = 0

init = function(args)
  create = wrk.format("POST", "/create", json, "{}")
  for id = 0, sessions - 1 do
    for _, action in ipairs(actions) do
      local body = string.format('{"id": %d, "action": "%s"}', id, action)
      steps[#steps + 1] = wrk.format("POST", "/step", json, body)
    end
  end
end

request = function()
  sent = sent + 1
  if sent <= sessions then
    return create
  end
  return steps[sent % #steps + 1]
end
