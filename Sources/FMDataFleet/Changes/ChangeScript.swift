extension StoreScript {
    /// Everything that publishers of a stream of changes do, as one script: entries, the versions that were published
    /// and the mark change together or not at all, and only by the publisher whose lease it is.
    ///
    /// Keys: the hash of the stream, the stream, the hash of published versions, and the ids in their order. Arguments:
    /// 1 the operation, 2 the lease, 3 its life, then those of the operation:
    ///
    ///     lead epoch                                    → [1, sequence], or [0, milliseconds until it may be free]
    ///     hold                                          → 1, or 0 when somebody else leads
    ///     resign                                        → the same
    ///     append sequence length mark, entries          → the same; done once for each sequence
    ///     versions after limit                          → ids and modIds in turn, by their ids
    ///
    /// An entry is five arguments: its kind, the record's id and modId, and a name and value of its own. Fields of the
    /// hash: `l` lease, `u` until, `e` epoch, `s` sequence of the last append, `m` the mark, `d` whether there were
    /// entries since the mark.
    static let changes = StoreScript(
        text: #"""
            local F, S, V, Z, op, lease, ttl = KEYS[1], KEYS[2], KEYS[3], KEYS[4], ARGV[1], ARGV[2], tonumber(ARGV[3])
            if op == 'versions' then
              local after = ARGV[4] == '' and '-inf' or '(' .. ARGV[4]
              local ids, list = redis.call('ZRANGEBYSCORE', Z, after, '+inf', 'LIMIT', 0, ARGV[5]), {}
              for _, id in ipairs(ids) do
                list[#list + 1] = id
                list[#list + 1] = redis.call('HGET', V, id) or '0'
              end
              return list
            end
            local t = redis.call('TIME')
            local now = t[1] * 1000 + math.floor(t[2] / 1000)
            local h = redis.call('HMGET', F, 'l', 'u', 'e', 's')
            local left, last = tonumber(h[2] or 0) - now, tonumber(h[4] or 0)
            local function hold() redis.call('HSET', F, 'l', lease, 'u', string.format('%.0f', now + ttl)) end
            if op == 'lead' then
              if left > 0 and h[1] ~= lease then return {0, left} end
              hold()
              if not h[3] then
                redis.call('HSET', F, 'e', ARGV[4])
                redis.call('XADD', S, '*', 'kind', 'begin', 'epoch', ARGV[4])
              end
              return {1, last}
            end
            if h[1] ~= lease then return 0 end
            if op == 'resign' then redis.call('HDEL', F, 'l', 'u'); return 1 end
            hold()
            if op == 'append' and tonumber(ARGV[4]) ~= last then
              if tonumber(ARGV[4]) ~= last + 1 then return 0 end
              for a = 7, #ARGV, 5 do
                local kind, id, mod, name, value = ARGV[a], ARGV[a + 1], ARGV[a + 2], ARGV[a + 3], ARGV[a + 4]
                if kind == 'reset' then
                  redis.call('DEL', V, Z); redis.call('HDEL', F, 'm')
                  redis.call('XADD', S, '*', 'kind', kind, name, value)
                elseif kind ~= 'gone' then
                  -- What cannot be decoded is asked for again by the next publisher.
                  redis.call('HSET', V, id, kind == 'unreadable' and -1 or mod); redis.call('ZADD', Z, id, id)
                  redis.call('XADD', S, 'MAXLEN', '~', ARGV[5], '*', 'kind', kind, 'id', id, 'mod', mod, name, value)
                elseif redis.call('HDEL', V, id) == 1 then
                  redis.call('ZREM', Z, id)
                  redis.call('XADD', S, 'MAXLEN', '~', ARGV[5], '*', 'kind', kind, 'id', id, name, value)
                end
                redis.call('HSET', F, 'd', 1)
              end
              if ARGV[6] ~= '' then
                redis.call('HSET', F, 'm', ARGV[6])
                if redis.call('HDEL', F, 'd') == 1 then
                  redis.call('XADD', S, 'MAXLEN', '~', ARGV[5], '*', 'kind', 'complete')
                end
              end
              redis.call('HSET', F, 's', ARGV[4])
            end
            return 1
            """#,
        hash: "f09700225b0f660e20c267ef9909f2c30fd49089"
    )
}
