import FMData
import Foundation

/// Draws the progress of a transfer on one line of the terminal.
struct ProgressBar {
    private static let width = 40

    let label: String

    /// The observer for an upload or a download.
    @Sendable func draw(_ progress: DataAPI.TransferProgress) {
        let fraction = progress.fraction ?? 0
        let done = Int(fraction * Double(Self.width))
        let bar = String(repeating: "█", count: done) + String(repeating: "░", count: Self.width - done)
        let isWhole = progress.completedBytes == progress.totalBytes
        print("\r\(label) \(bar) \(Int(fraction * 100)) %", terminator: isWhole ? "\n" : "")
        fflush(nil)
    }
}
