/// The elliptic curve P-256, as much of it as a self-made certificate needs: a public key and one signature. It takes no care
/// against timing: what it signs guards nothing.
///
/// Source: SEC 2, section 2.4.2 (the curve); FIPS 186-5, section 6.4 (ECDSA); Koç and others 1996 (Montgomery multiplication).
enum P256 {
    /// 256 bits, the least significant word first.
    typealias Words = [UInt32]

    /// A private key: a number from 1 to the order of the curve, which it is below.
    struct PrivateKey {
        fileprivate let scalar: Words

        /// - Parameter bytes: 32 bytes at random.
        init(random bytes: [UInt8]) {
            // The order is above 2^255: one subtraction is enough. Nobody will ever see a zero.
            scalar = P256.order.reduced(P256.words(bytes))
        }

        var bytes: [UInt8] { P256.bytes(scalar) }

        /// The public key as an uncompressed point: 4, x, y.
        var publicKey: [UInt8] {
            let point = P256.multiply(scalar)
            return [4] + P256.bytes(point.x) + P256.bytes(point.y)
        }

        /// ECDSA over a digest of 32 bytes, with the number that must never serve twice.
        func signature(of digest: [UInt8], nonce: PrivateKey) -> (r: [UInt8], s: [UInt8]) {
            let n = P256.order
            let r = n.reduced(P256.multiply(nonce.scalar).x)
            let (e, d) = (n.mounted(P256.words(digest)), n.mounted(scalar))
            let sum = n.add(e, n.multiply(n.mounted(r), d))
            let s = n.plain(n.multiply(n.inverse(n.mounted(nonce.scalar)), sum))
            return (P256.bytes(r), P256.bytes(s))
        }
    }

    // MARK: The curve

    private static let field = Modulus("FFFFFFFF00000001000000000000000000000000FFFFFFFFFFFFFFFFFFFFFFFF")
    private static let order = Modulus("FFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551")
    private static let generator = Point(
        x: field.mounted(words(hex: "6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296")),
        y: field.mounted(words(hex: "4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5")),
        z: field.one
    )

    /// Jacobian coordinates; z is 0 at infinity.
    private struct Point {
        var x, y, z: Words
    }

    /// A multiple of the generator, in plain coordinates.
    private static func multiply(_ scalar: Words) -> (x: Words, y: Words) {
        var sum = Point(x: field.one, y: field.one, z: field.zero)
        for bit in (0..<256).reversed() {
            sum = double(sum)
            if scalar[bit / 32] >> (bit % 32) & 1 == 1 { sum = add(sum, generator) }
        }
        let inverse = field.inverse(sum.z)
        let square = field.multiply(inverse, inverse)
        return (
            field.plain(field.multiply(sum.x, square)),
            field.plain(field.multiply(sum.y, field.multiply(square, inverse)))
        )
    }

    private static func double(_ point: Point) -> Point {
        let f = field
        let delta = f.multiply(point.z, point.z)
        let gamma = f.multiply(point.y, point.y)
        let beta = f.multiply(point.x, gamma)
        let slope = f.multiply(f.subtract(point.x, delta), f.add(point.x, delta))
        let alpha = f.add(slope, f.add(slope, slope))
        let four = f.add(f.add(beta, beta), f.add(beta, beta))
        let x = f.subtract(f.multiply(alpha, alpha), f.add(four, four))
        let sum = f.add(point.y, point.z)
        let z = f.subtract(f.subtract(f.multiply(sum, sum), gamma), delta)
        let two = f.add(gamma, gamma)
        let eight = f.multiply(two, f.add(two, two))
        return Point(x: x, y: f.subtract(f.multiply(alpha, f.subtract(four, x)), eight), z: z)
    }

    /// Two points that differ, as those of ``multiply(_:)`` do: the sum so far is a multiple by at least 2 and less than the
    /// order, or nothing yet.
    private static func add(_ left: Point, _ right: Point) -> Point {
        if left.z == field.zero { return right }
        let f = field
        let (leftSquare, rightSquare) = (f.multiply(left.z, left.z), f.multiply(right.z, right.z))
        let (u, v) = (f.multiply(left.x, rightSquare), f.multiply(right.x, leftSquare))
        let s = f.multiply(left.y, f.multiply(right.z, rightSquare))
        let t = f.multiply(right.y, f.multiply(left.z, leftSquare))
        let (h, r) = (f.subtract(v, u), f.subtract(t, s))
        let square = f.multiply(h, h)
        let (cube, uh) = (f.multiply(h, square), f.multiply(u, square))
        let x = f.subtract(f.subtract(f.multiply(r, r), cube), f.add(uh, uh))
        let y = f.subtract(f.multiply(r, f.subtract(uh, x)), f.multiply(s, cube))
        return Point(x: x, y: y, z: f.multiply(h, f.multiply(left.z, right.z)))
    }

    // MARK: Numbers

    private static func words(_ bytes: [UInt8]) -> Words {
        stride(from: 28, through: 0, by: -4).map { place in
            bytes[place..<place + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        }
    }

    private static func words(hex: String) -> Words {
        let digits = Array(hex)
        return words(stride(from: 0, to: 64, by: 2).map { UInt8(String(digits[$0...$0 + 1]), radix: 16) ?? 0 })
    }

    private static func bytes(_ words: Words) -> [UInt8] {
        words.reversed().flatMap { word in [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: word >> $0) } }
    }

    /// Arithmetic modulo an odd prime of 256 bits, on numbers multiplied by 2^256 ("mounted").
    private struct Modulus {
        let words: Words
        /// -1 / words[0] modulo 2^32
        private let inverseWord: UInt32
        /// 2^512, with which a number is mounted.
        private let square: Words
        let one: Words
        let zero = Words(repeating: 0, count: 8)

        init(_ hex: String) {
            words = P256.words(hex: hex)
            // Newton: each turn doubles the number of right bits, of which an odd number has three to begin with.
            var inverse = words[0]
            for _ in 0..<4 { inverse = inverse &* (2 &- words[0] &* inverse) }
            inverseWord = 0 &- inverse
            // By doubling 1, 256 times and 512 times.
            var power: Words = [1, 0, 0, 0, 0, 0, 0, 0]
            for _ in 0..<256 { power = Self.add(power, power, words) }
            one = power
            for _ in 0..<256 { power = Self.add(power, power, words) }
            square = power
        }

        func mounted(_ number: Words) -> Words { multiply(number, square) }
        func plain(_ number: Words) -> Words { multiply(number, [1, 0, 0, 0, 0, 0, 0, 0]) }
        /// A number of up to 256 bits, less the modulus if it is not below it.
        func reduced(_ number: Words) -> Words { plain(mounted(number)) }

        func add(_ left: Words, _ right: Words) -> Words { Self.add(left, right, words) }

        func subtract(_ left: Words, _ right: Words) -> Words {
            let (difference, borrow) = Self.difference(left, right)
            return borrow == 0 ? difference : Self.sum(difference, words).words
        }

        func multiply(_ left: Words, _ right: Words) -> Words {
            var sum = [UInt32](repeating: 0, count: 10)
            for factor in left {
                accumulate(factor, right, &sum)
                accumulate(sum[0] &* inverseWord, words, &sum)
                // The lowest word is zero now.
                sum.removeFirst()
                sum.append(0)
            }
            let low = Words(sum[..<8])
            let (reduced, borrow) = Self.difference(low, words)
            return sum[8] == 0 && borrow == 1 ? low : reduced
        }

        private func accumulate(_ factor: UInt32, _ words: Words, _ sum: inout [UInt32]) {
            var carry: UInt64 = 0
            for place in 0..<8 {
                carry += UInt64(factor) * UInt64(words[place]) + UInt64(sum[place])
                sum[place] = UInt32(truncatingIfNeeded: carry)
                carry >>= 32
            }
            carry += UInt64(sum[8])
            sum[8] = UInt32(truncatingIfNeeded: carry)
            sum[9] += UInt32(carry >> 32)
        }

        /// By Fermat: the power of the modulus less 2.
        func inverse(_ number: Words) -> Words {
            let exponent = Self.difference(words, [2, 0, 0, 0, 0, 0, 0, 0]).words
            var power = one
            for bit in (0..<256).reversed() {
                power = multiply(power, power)
                if exponent[bit / 32] >> (bit % 32) & 1 == 1 { power = multiply(power, number) }
            }
            return power
        }

        private static func add(_ left: Words, _ right: Words, _ modulus: Words) -> Words {
            let (sum, carry) = sum(left, right)
            let (reduced, borrow) = difference(sum, modulus)
            return carry == 0 && borrow == 1 ? sum : reduced
        }

        private static func sum(_ left: Words, _ right: Words) -> (words: Words, carry: UInt64) {
            var carry: UInt64 = 0
            let words = zip(left, right).map { one, other -> UInt32 in
                carry = UInt64(one) + UInt64(other) + carry >> 32
                return UInt32(truncatingIfNeeded: carry)
            }
            return (words, carry >> 32)
        }

        private static func difference(_ left: Words, _ right: Words) -> (words: Words, borrow: UInt64) {
            var borrow: UInt64 = 0
            let words = zip(left, right).map { one, other -> UInt32 in
                let difference = UInt64(one) &- UInt64(other) &- borrow
                borrow = difference >> 63
                return UInt32(truncatingIfNeeded: difference)
            }
            return (words, borrow)
        }
    }
}
