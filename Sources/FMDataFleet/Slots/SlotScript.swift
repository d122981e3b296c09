extension StoreScript {
    /// Everything that members do with slots, as one script: the store runs it without anything in between, so its
    /// clock alone decides, and each change names the lease that it rests on.
    ///
    /// Keys: the hash of the pool and the line of those who wait. Arguments: 1 the operation, 2 the run of the store's
    /// process, 3 the member, 4 the lease, 5 the number of slots, 6 the life of a lease, 7 and 8 how long nothing is
    /// granted after another run and in a new pool, 9 the prefix of the members' channels, then those of the operation:
    ///
    ///     take alone               → [1, slot, token or '', stray, waiting] or [0, milliseconds, rank, 0, waiting]
    ///     keep [slot, lease] …     → a list of `lost slot`, `again slot` and `recall slot`
    ///     put slot token life      → 1, or 0 when the slot is not the member's, or 2 when nothing is known of the slot
    ///     drop slot token          → the same
    ///     give slot life           → the same; the life may be empty
    ///     full slot time rest      → the same
    ///
    /// Whoever waits asks again after a second, in case a message was lost; a member that holds all slots itself, after
    /// two.
    ///
    /// Until a login has succeeded, it is alone for so many milliseconds: work with a session of its own tells nobody
    /// that it has succeeded.
    ///
    /// Fields of the hash: `run`, `shut` (nothing is granted before), `ok` (a login has succeeded), `cap` and `capu`
    /// (the host is full: so many, until), `rest` (it has room for none: no login before), `k` slots, `logins` and
    /// `strays` counted from `since`; of each slot `o` its owner, `l` lease, `u` until, `g` granted at, `t` sealed
    /// token, `x` its death, `b` login under way, `c` recalled until; of each who waits `a:` asks until, `n:` the lease
    /// that it will use.
    static let slots = StoreScript(
        text: #"""
            local P, L, op, run, me, lease = KEYS[1], KEYS[2], ARGV[1], ARGV[2], ARGV[3], ARGV[4]
            local K, ttl = tonumber(ARGV[5]), tonumber(ARGV[6])
            local t = redis.call('TIME')
            local now = t[1] * 1000 + math.floor(t[2] / 1000)
            local h, flat = {}, redis.call('HGETALL', P)
            for a = 1, #flat, 2 do h[flat[a]] = flat[a + 1] end
            local function num(f) return tonumber(h[f] or 0) end
            local function set(f, v)
              h[f] = type(v) == 'number' and string.format('%.0f', v) or v
              redis.call('HSET', P, f, h[f])
            end
            local function del(...)
              for _, f in ipairs({...}) do h[f] = nil; redis.call('HDEL', P, f) end
            end
            local function tell(who, word) redis.call('PUBLISH', ARGV[9] .. who, word) end
            if h.run ~= run then
              set('shut', now + (h.run and ARGV[7] or ARGV[8]))
              set('run', run)
            end
            if not h.since then set('since', now) end
            if h.k ~= ARGV[5] then set('k', ARGV[5]) end
            redis.call('PEXPIRE', P, 86400000)
            redis.call('PEXPIRE', L, 86400000)
            local shut = num('shut') - now
            local function taken(i) return num('u' .. i) > now end
            local function warm(i) return h['t' .. i] and num('x' .. i) > now end
            local function held(who)
              local n = 0
              for i = 1, K do if taken(i) and h['o' .. i] == who then n = n + 1 end end
              return n
            end
            local function leave(who) redis.call('ZREM', L, who); del('a:' .. who, 'n:' .. who) end
            local function line()
              local live = {}
              for _, w in ipairs(redis.call('ZRANGE', L, 0, -1)) do
                if num('a:' .. w) > now then live[#live + 1] = w else leave(w) end
              end
              return live
            end
            local function grant(i, who, nonce, ms)
              set('o' .. i, who); set('l' .. i, nonce); set('u' .. i, now + ms); set('g' .. i, now)
            end
            local function vacate(i)
              del('o' .. i, 'l' .. i, 'u' .. i, 'b' .. i, 'c' .. i)
              local w = shut <= 0 and line()[1]
              if w and warm(i) then grant(i, w, h['n:' .. w], 2000); leave(w) end
              if w then tell(w, 'g') end
            end
            if op == 'take' then
              for i = 1, K do
                if taken(i) and h['l' .. i] == lease then
                  grant(i, me, lease, ttl)
                  if not warm(i) then set('b' .. i, 1) end
                  return {1, i, warm(i) and h['t' .. i] or '', 0, #line()}
                end
              end
              local mine = held(me)
              redis.call('ZADD', L, 'NX', string.format('%.0f', mine * 2 ^ 44 + now), me)
              set('a:' .. me, now + 3000); set('n:' .. me, lease)
              if shut > 0 then return {0, math.min(shut, 1000), 0, 0, 0} end
              local live, rank, used, opening, free, hot = line(), 0, 0, 0, {}, 0
              for r, w in ipairs(live) do if w == me then rank = r - 1 end end
              for i = 1, K do
                if taken(i) then
                  used = used + 1
                  if h['b' .. i] and num('g' .. i) + ARGV[10] > now then opening = opening + 1 end
                elseif warm(i) then
                  hot = hot + 1
                  table.insert(free, hot, i)
                else
                  free[#free + 1] = i
                end
              end
              if opening > 0 and not h.ok then free = {} end
              local room = (num('capu') > now and num('cap') or K) - used
              if num('rest') > now then room = math.min(room, hot) end
              if rank < math.min(#free, room) then
                local i, stray = free[1], h['b' .. free[1]] and 1 or 0
                if stray == 1 then set('strays', num('strays') + 1) end
                del('b' .. i, 'c' .. i)
                if not warm(i) then del('t' .. i, 'x' .. i); set('b' .. i, 1) end
                grant(i, me, lease, ttl)
                leave(me)
                return {1, i, h['t' .. i] or '', stray, #live - 1}
              end
              local soon, victim, most, since = mine == K and 2000 or 1000, nil, mine, 0
              for i = 1, K do
                if taken(i) then
                  local n, g = held(h['o' .. i]), num('g' .. i)
                  soon = math.min(soon, num('u' .. i) - now)
                  if h['o' .. i] ~= me and num('c' .. i) <= now
                    and (n > most or victim and n == most and g < since) then
                    victim, most, since = i, n, g
                  end
                end
              end
              if victim then set('c' .. victim, now + 1000); tell(h['o' .. victim], 'r' .. victim) end
              return {0, math.max(soon, 50), rank, 0, #live}
            elseif op == 'keep' then
              local news, wanted = {}, #line() > 0
              for a = 10, #ARGV, 2 do
                local i, l = ARGV[a], ARGV[a + 1]
                if h['l' .. i] ~= l and (h['l' .. i] or h['t' .. i]) then
                  news[#news + 1] = 'lost ' .. i
                else
                  if not warm(i) and not h['b' .. i] then news[#news + 1] = 'again ' .. i end
                  if wanted and h['c' .. i] then news[#news + 1] = 'recall ' .. i end
                  set('o' .. i, me); set('l' .. i, l); set('u' .. i, now + ttl)
                  if not h['g' .. i] then set('g' .. i, now) end
                end
              end
              return news
            end
            local i, first = ARGV[10], not h.ok
            if h['l' .. i] ~= lease then return (h['l' .. i] or h['t' .. i]) and 0 or 2 end
            if op == 'put' then
              if h['b' .. i] then set('logins', num('logins') + 1) end
              set('t' .. i, ARGV[11]); set('x' .. i, now + ARGV[12]); del('b' .. i); set('ok', '1')
              set('u' .. i, now + ttl)
              if first then for _, w in ipairs(line()) do tell(w, 'g') end end
            elseif op == 'drop' then
              if h['t' .. i] == ARGV[11] then del('t' .. i, 'x' .. i) end
              set('b' .. i, '1'); set('u' .. i, now + ttl)
            elseif op == 'give' then
              if h['t' .. i] and ARGV[11] ~= '' then set('x' .. i, now + ARGV[11]) end
              vacate(i)
            elseif op == 'full' then
              local open = 0
              for j = 1, K do
                if warm(j) or j ~= tonumber(i) and taken(j) and h['b' .. j] then open = open + 1 end
              end
              set('cap', math.max(1, open)); set('capu', now + ARGV[11])
              if open == 0 then set('rest', now + ARGV[12]) end
              vacate(i)
            end
            return 1
            """#,
        hash: "ab10f37e21022d31998c3075b79244db4ea21b60"
    )
}
