import Foundation

/// Random numbers that follow from a seed alone: SplitMix64, whose few lines give the same on every machine and in
/// every release of Swift ([Steele, Lea and Flood, OOPSLA 2014](https://doi.org/10.1145/2660193.2660195)).
struct Chance: RandomNumberGenerator {
    private var state: UInt64

    /// - Parameter purpose: separates the parts of the world, so that draws of one do not change those of another.
    init(seed: UInt64, purpose: Purpose) {
        state = seed &+ UInt64(purpose.rawValue) &* 0xD1B5_4A32_D192_ED03
        _ = next()
    }

    enum Purpose: Int {
        case program, turns, network, client, disks
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    /// A number in `0..<count`.
    mutating func below(_ count: Int) -> Int { Int(next() % UInt64(count)) }

    /// A number in `0..<1`.
    mutating func fraction() -> Double { Double(next() >> 11) / Double(1 << 53) }

    /// `true` with a probability of 1 / `count`.
    mutating func once(in count: Int) -> Bool { below(count) == 0 }

    mutating func pick<Element>(_ choices: [Element]) -> Element { choices[below(choices.count)] }

    /// A number of the range, with each order of magnitude equally likely.
    mutating func magnitude(_ range: ClosedRange<Int>) -> Int {
        let bits = log2(Double(range.count)) * fraction()
        return min(range.upperBound, range.lowerBound + Int(exp2(bits)) - 1)
    }
}
