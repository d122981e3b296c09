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
    ])
    func whatIsNoAddressIsRefused(url: String) {
        #expect(StoreAddress(url: url) == nil)
    }

    @Test func aDumpShowsNoPassword() {
        let address = StoreAddress(host: "cache", user: "ada", password: "canary")
        var text = "\(address)"
        dump(address, to: &text)
        #expect(!text.contains("canary"))
    }
}
