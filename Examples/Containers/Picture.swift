import Foundation

/// A picture that needs no file: the Mandelbrot set as a 24-bit Windows bitmap, written byte by byte.
struct Picture {
    let width: Int
    let height: Int

    /// The file: a header of 54 bytes, then the rows from the bottom up, three bytes per pixel, each row a multiple of
    /// four bytes long.
    var bitmap: Data {
        let rowLength = (3 * width + 3) / 4 * 4
        var file = Data()
        file.append(contentsOf: Array("BM".utf8))
        file.append(littleEndian: UInt32(54 + rowLength * height))
        file.append(littleEndian: UInt32(0))
        file.append(littleEndian: UInt32(54))
        file.append(littleEndian: UInt32(40))
        file.append(littleEndian: UInt32(width))
        file.append(littleEndian: UInt32(height))
        file.append(littleEndian: UInt16(1))
        file.append(littleEndian: UInt16(24))
        // No compression, then the size, resolution and palette, which follow from the rest.
        file.append(Data(count: 24))
        for row in 0..<height {
            for column in 0..<width {
                file.append(contentsOf: colour(column, row))
            }
            file.append(Data(count: rowLength - 3 * width))
        }
        return file
    }

    /// Blue, green and red.
    private func colour(_ column: Int, _ row: Int) -> [UInt8] {
        let x = 3.0 * Double(column) / Double(width) - 2.2
        let y = 2.4 * Double(row) / Double(height) - 1.2
        var (a, b) = (0.0, 0.0)
        var steps = 0
        while a * a + b * b < 4, steps < 64 {
            (a, b) = (a * a - b * b + x, 2 * a * b + y)
            steps += 1
        }
        return steps == 64 ? [0, 0, 0] : [UInt8(95 + steps * 2), UInt8(steps * 4), UInt8(steps)]
    }
}

extension Data {
    fileprivate mutating func append(littleEndian number: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: number.littleEndian) { append(contentsOf: $0) }
    }
}
