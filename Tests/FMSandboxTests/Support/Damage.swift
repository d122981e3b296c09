import FMTestSupport

/// Bytes that have a meaning for one of the parsers.
let signs = Array("\"\\{}[]:,-+.0129eE%/?&=;<>*#@!~ \r\n\t\0".utf8) + [0x7F, 0x80, 0xC3, 0xFF]

/// The bytes, with a few of them changed, removed, repeated or cut off.
func damaged(_ bytes: [UInt8], _ generator: inout SeededRandom) -> [UInt8] {
    var bytes = bytes
    for _ in 0..<Int.random(in: 1...4, using: &generator) where !bytes.isEmpty {
        let place = Int.random(in: 0..<bytes.count, using: &generator)
        let end = min(bytes.count, place + Int.random(in: 1...20, using: &generator))
        switch Int.random(in: 0..<6, using: &generator) {
        case 0: bytes[place] = signs.randomElement(using: &generator) ?? 0
        case 1: bytes[place] = UInt8.random(in: 0...255, using: &generator)
        case 2: bytes.insert(signs.randomElement(using: &generator) ?? 0, at: place)
        case 3: bytes.removeSubrange(place..<end)
        case 4: bytes.insert(contentsOf: bytes[place..<end], at: place)
        default: bytes.removeLast(min(bytes.count, Int.random(in: 1...40, using: &generator)))
        }
    }
    return bytes
}
