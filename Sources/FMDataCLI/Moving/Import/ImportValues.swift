import ArgumentParser
import FMData

/// What the values of a file mean.
struct ImportValues: Sendable {
    /// The form of dates and times, beside ISO 8601.
    var dateFormat = ValueFormat.iso
    /// Whether line feeds are line breaks, which are carriage returns in FileMaker.
    var usesLineFeeds = false
    /// Whether a value that is none of its field's type is sent as it stands.
    var isAsIs = false
}

/// The form of dates that the user names.
enum DateForm: Sendable {
    case format(ValueFormat)
    /// The one that the host names.
    case host

    /// - Parameter text: `iso`, `us`, `host` or a pattern.
    init(_ text: String) throws {
        switch text {
        case "iso": self = .format(.iso)
        case "us": self = .format(.us)
        case "host": self = .host
        default:
            do {
                self = .format(try ValueFormat(date: text))
            } catch {
                throw ValidationError("\(error)")
            }
        }
    }

    func format(of server: DataAPI.Server) async throws -> ValueFormat {
        if case .format(let format) = self { return format }
        do {
            return try await server.getProductInfo().firstValue().valueFormat()
        } catch let error as ValueFormat.PatternError {
            throw CommandError("The host names no form of dates that can be read. \(error)")
        }
    }
}
