-- Memory of env_server while sessions come and go, for wrk. Start the server afresh:
--   env_server --task textcraft --port 32361 &
--   wrk -t1 -c16 -d60s -s tests/servers/create_close.lua http://127.0.0.1:32361 -- 10000
--   ps -o rss= -C env_server; curl -s http://127.0.0.1:32361/metrics | grep sessions
-- Ids grow by one, so from the 10000th session on each /create is followed by the /close of the
-- session that is 10000 older: that many stay live. An optional second number is how many creations
-- there are at most; what follows then is /health.

local json = { ["Content-Type"] = "application/json" }
local live, most
local create, health
local created, closed = 0, 0

init = function(args)
  live = tonumber(args[1] or 10000)
  most = tonumber(args[2] or 1e12)
  create = wrk.format("POST", "/create", json, "{}")
  health = wrk.format("GET", "/health")
end

request = function()
  if closed < created - live then
    closed = closed + 1
    return wrk.format("POST", "/close", json, string.format('{"id": %d}', closed - 1))
  end
  if created >= most then
    return health
  end
  created = created + 1
  return create
end
