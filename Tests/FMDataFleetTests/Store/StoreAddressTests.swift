import CustomDump
import Testing

@testable import FMDataFleet

@Suite struct StoreAddressTests {
    @Test(
        arguments: [
            ("redis://cache.example.com", "redis://cache.example.com:6379", nil, nil),
            ("redis://:s%40cret@cache:7000/", "redis://cache:7000", nil, "s@cret"),
            ("rediss://ada:a:b@cache:7000/0", "rediss://cache:7000", "ada", "a:b"),
            ("redis://[::1]:7000", "redis://::1:7000", nil, nil),
            ("unix:///run/redis.sock", "unix:///run/redis.sock", nil, nil),
            ("redis-sentinel://s1#fleet", "redis-sentinel://s1:26379#fleet", nil, nil),
            (
                "rediss-sentinel://ada:a%23b@s1:7000,[::1],s3/0#my%20fleet",
                "rediss-sentinel://s1:7000,::1:26379,s3:26379#my fleet", "ada", "a#b"
            ),
        ] as [(String, String, String?, String?)]
    )
    func aURLIsRead(url: String, description: String, user: String?, password: String?) throws {
        let address = try #require(StoreAddress(url: url))
        expectNoDifference("\(address)", description)
        expectNoDifference(address.user, user)
        expectNoDifference(address.password, password)
        expectNoDifference(address.tls != nil, url.hasPrefix("rediss"))
    }

    @Test(arguments: [
        "", "cache", "http://cache", "redis://", "redis://cache:0x10", "redis://cache:99999", "redis://cache/3",
        "redis://ada@cache", "redis://:%zz@cache", "redis://cache?db=1", "unix://", "unix://run",
        "redis-sentinel://s1", "redis-sentinel://s1#", "redis-sentinel://#fleet", "redis-sentinel://s1,,s2#fleet",
        "redis-sentinel://s1,s2:x#fleet", "redis-sentinel://s1/2#fleet", "redis-sentinel://ada@s1#fleet",
        "redis://cache#fleet", "redis://cache,other",
    ])
    func whatIsNoAddressIsRefused(url: String) {
        #expect(StoreAddress(url: url) == nil)
    }

    @Test func aDumpShowsNoPassword() {
        var address = StoreAddress(master: "fleet", sentinels: [], user: "ada", password: "canary")
        address.sentinelPassword = "canary"
        var text = "\(address)"
        dump(address, to: &text)
        #expect(!text.contains("canary"))
    }
}
