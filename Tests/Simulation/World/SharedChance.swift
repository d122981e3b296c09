/// Random numbers for the client, whose closures must be `Sendable`.
final class SharedChance: @unchecked Sendable {
    // Sendable because it runs on the one real thread of the machine.
    private var chance: Chance
    init(seed: UInt64) { chance = Chance(seed: seed, purpose: .client) }
    func fraction() -> Double { chance.fraction() }
    func number() -> UInt64 { chance.next() }
}
