/// Chance for the client: closures that cross threads.
final class SharedChance: @unchecked Sendable {
    // Sendable as the machine is.
    private var chance: Chance
    init(seed: UInt64) { chance = Chance(seed: seed, purpose: .client) }
    func fraction() -> Double { chance.fraction() }
}
