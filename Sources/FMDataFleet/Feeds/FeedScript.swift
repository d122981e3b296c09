extension StoreScript {
    /// Everything that members do with a feed, the shared polls of one live query, as one script: the store's clock
    /// alone decides who leads, and whoever slept past its lease adds nothing.
    ///
    /// Keys: the hash of the feed, its stream, and its members by the time until which they count. Arguments: 1 the
    /// operation, 2 the member, 3 its lease, 4 the life of a lease, 5 the feed's channel, then those of the operation:
    ///
    ///     lead epoch                              → [1 or 0, milliseconds until it may be free, epoch, sequence,
    ///                                                polls, members]
    ///     read epoch after bytes                  → [sequence, polls, digest, age, entries …], [] for another epoch
    ///     append epoch sequence duration digest data → [sequence, polls], [] when somebody else leads
    ///     beat epoch duration digest              → the same: a poll that has found nothing
    ///     hold                                    → the same
    ///     resign                                  → the same
    ///
    /// An entry is three elements: its sequence, the number of the poll that has found it, and its data. Fields of the
    /// hash: `o` the leader, `l` its lease, `u` until, `e` epoch, `s` sequence of the last entry, `n` number of the
    /// last poll, `d` the digest after it, `a` when it began.
    ///
    /// The channel is told `sequence polls` after each poll, and `v` when nobody leads any more; `w` comes from members
    /// that want a poll.
    static let feeds = StoreScript(
        text: #"""
            local F, S, M, op, me, lease, ttl = KEYS[1], KEYS[2], KEYS[3], ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])
            local t = redis.call('TIME')
            local now = t[1] * 1000 + math.floor(t[2] / 1000)
            local h = redis.call('HMGET', F, 'l', 'u', 'e', 's', 'n', 'd', 'a')
            local left, seq, polls = tonumber(h[2] or 0) - now, tonumber(h[4] or 0), tonumber(h[5] or 0)
            local function whole(number) return string.format('%.0f', number) end
            local function hold()
              redis.call('HSET', F, 'o', me, 'l', lease, 'u', whole(now + ttl))
              redis.call('PEXPIRE', F, 86400000)
            end
            local function note(began, digest)
              redis.call('HSET', F, 's', whole(seq), 'n', whole(polls), 'd', digest, 'a', whole(now - began))
            end
            if op == 'lead' then
              redis.call('ZADD', M, whole(now + 3 * ttl), me)
              redis.call('ZREMRANGEBYSCORE', M, '-inf', whole(now))
              redis.call('PEXPIRE', M, whole(6 * ttl))
              local leads = left <= 0 or h[1] == lease
              if leads and not h[3] then
                h[3] = ARGV[6]
                redis.call('HSET', F, 'e', h[3])
                redis.call('DEL', S)
              end
              if leads then hold() end
              return {leads and 1 or 0, leads and 0 or left, h[3], seq, polls, redis.call('ZCARD', M)}
            end
            if op == 'read' then
              if h[3] ~= ARGV[6] then return {} end
              local answer, size = {seq, polls, h[6] or '', h[7] and now - h[7] or 0}, 0
              for _, entry in ipairs(redis.call('XRANGE', S, whole(ARGV[7] + 1) .. '-0', '+', 'COUNT', 100)) do
                if size > tonumber(ARGV[8]) then break end
                size = size + #entry[2][4]
                answer[#answer + 1] = tonumber(string.match(entry[1], '^%d+'))
                answer[#answer + 1] = tonumber(entry[2][2])
                answer[#answer + 1] = entry[2][4]
              end
              return answer
            end
            if h[1] ~= lease then return {} end
            if op == 'resign' then
              redis.call('HDEL', F, 'o', 'l', 'u')
              redis.call('ZREM', M, me)
              redis.call('PUBLISH', ARGV[5], 'v')
              return {seq, polls}
            end
            if op ~= 'hold' and h[3] ~= ARGV[6] then return {} end
            hold()
            if op == 'append' and tonumber(ARGV[7]) ~= seq then
              if tonumber(ARGV[7]) ~= seq + 1 then return {} end
              seq, polls = seq + 1, polls + 1
              redis.call('XADD', S, 'MAXLEN', '~', 1000, whole(seq) .. '-0', 'n', whole(polls), 'd', ARGV[10])
              redis.call('PEXPIRE', S, 86400000)
              note(ARGV[8], ARGV[9])
            elseif op == 'beat' then
              polls = polls + 1
              note(ARGV[7], ARGV[8])
            end
            if op ~= 'hold' then redis.call('PUBLISH', ARGV[5], whole(seq) .. ' ' .. whole(polls)) end
            return {seq, polls}
            """#,
        hash: "aeb332666416739b632f5294deb1ed78ab0f880c"
    )
}
