import Testing

@testable import FMDataFleet

@Suite struct FleetKeysTests {
    private let token = Array("token".utf8)
    private static let old = [UInt8](repeating: 1, count: 32)
    private static let new = [UInt8](repeating: 2, count: 32)

    @Test func aTokenIsOpenedWhereItWasSealedFor() throws {
        let keys = try FleetKeys([7: Self.old], current: 7)
        let sealed = try keys.seal(token, for: "pool 1")
        #expect(sealed.count == 1 + 4 + 12 + 5 + 16)
        #expect(Array(sealed[..<5]) == [1, 0, 0, 0, 7])
        #expect(keys.open(sealed, at: "pool 1") == token)
        #expect(keys.open(sealed, at: "pool 2") == nil)
    }

    @Test func twoSealingsDiffer() throws {
        let keys = try FleetKeys([1: Self.old], current: 1)
        #expect(try keys.seal(token, for: "pool 1") != keys.seal(token, for: "pool 1"))
    }

    @Test func aKeyIsRotatedInThreeSteps() throws {
        let before = try FleetKeys([1: Self.old], current: 1)
        let between = try FleetKeys([1: Self.old, 2: Self.new], current: 1)
        let during = try FleetKeys([1: Self.old, 2: Self.new], current: 2)
        let after = try FleetKeys([2: Self.new], current: 2)
        for (sealer, opener) in [(before, between), (between, before), (between, during), (during, between)] {
            #expect(opener.open(try sealer.seal(token, for: "p"), at: "p") == token)
        }
        #expect(after.open(try during.seal(token, for: "p"), at: "p") == token)
        #expect(after.open(try before.seal(token, for: "p"), at: "p") == nil)
    }

    @Test func noChangedByteIsOpened() throws {
        let keys = try FleetKeys([1: Self.old], current: 1)
        let sealed = try keys.seal(token, for: "p")
        for place in sealed.indices {
            var changed = sealed
            changed[place] ^= 1
            #expect(keys.open(changed, at: "p") == nil)
            #expect(keys.open(Array(sealed[..<place]), at: "p") == nil)
        }
    }

    @Test func unusableKeysAreRefused() {
        #expect(throws: FleetKeys.Invalid.length(3)) { try FleetKeys([3: [1, 2, 3]], current: 3) }
        #expect(throws: FleetKeys.Invalid.noCurrentKey) { try FleetKeys([1: Self.old], current: 2) }
    }

    @Test func aDumpShowsNoKey() throws {
        let keys = try FleetKeys([1: Self.old], current: 1)
        var text = "\(keys)"
        dump(keys, to: &text)
        #expect(!text.contains("SymmetricKey"))
    }
}
