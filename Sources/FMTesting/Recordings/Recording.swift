public import FMData
public import Foundation
import OpenCombine

/// Exchanges with a host as files: written once while a program talks to a real host, and answered from as often as a
/// test runs.
///
/// ```swift
/// let folder = FileManager.default.temporaryDirectory.appendingPathComponent("Contacts-\(UUID())")
/// func contacts(_ recording: Recording) -> DataAPI.TypedLayout<Person> {
///     var config = DataAPI.Config()
///     recording.install(in: &config)
///     return DataAPI.Server(host: host, config: config)
///         .addDatabase("World", credentials: Credentials(user: "admin", password: secret))
///         .layout(Person.self)
/// }
/// let recorded = try await contacts(Recording(to: folder)).count().firstValue()
/// let replayed = try await contacts(.replaying(folder)).count().firstValue()            // asks no host
/// print(recorded == replayed)                                 // true
/// ```
///
/// **Secrets are never written**: in place of the tokens of sessions, the passwords of data sources, cookies, the URLs
/// of containers' contents and the host's name there are placeholders, and of headers only those are written that the
/// client reads. Confidential parameters of scripts are left out; sign-ins by OAuth and calls for webhooks are not
/// recorded at all. **The values of fields are written**, as are other parameters and results of scripts and the
/// contents of containers: a recording holds what the records hold. The closure `changing` replaces values before they
/// are written.
///
/// A file holds one exchange as JSON: what was asked, without the bytes of uploads, and the complete answer. An
/// exchange that fails or is cancelled is not written. An answer is in memory until it is complete.
///
/// A program runs again only if it asks the same: what it asks for must not depend on the time or on chance.
public final class Recording: Sendable {
    /// Returns what is written in place of the value of a field. The field may also be a parameter or a result of a
    /// script, by its name in the protocol: `script.param`, `scriptResult`.
    ///
    ///     let recording = try Recording(to: folder) { value, field, layout in field == "Name" ? "Ada" : value }
    ///
    /// A replay needs the same closure: it compares the values that a program sends with those that were written.
    public typealias Change = @Sendable (_ value: FieldValue, _ field: String, _ layout: String?) -> FieldValue

    /// Has the exchanges of every server with this configuration written, or answered.
    ///
    /// It is a middleware behind those that the configuration has already, so that it sees what is sent. Pages have 100
    /// records if the configuration says nothing else: the size of pages that follows the time they take is another in
    /// each run, and so are the questions.
    public func install(in config: inout DataAPI.Config) {
        config.middleware.append(middleware)
        config.pageSize = config.pageSize ?? 100
    }

    private var middleware: DataAPI.Middleware {
        DataAPI.Middleware { request, next in
            let isSecret = Self.unrecorded.contains(request.operation)
            return switch self.mode {
            case .writing(let writer):
                isSecret ? next(request) : writer.writing(request, next(request), self.redaction)
            case .answering(let replay):
                isSecret ? Self.unanswered : replay.answer(to: request, self.redaction)
            }
        }
    }

    /// The names of the files that have not been asked for; empty while a recording is written.
    public var unused: [String] {
        switch mode {
        case .writing: []
        case .answering(let replay): replay.unused
        }
    }

    private enum Mode: Sendable {
        case writing(ExchangeWriter)
        case answering(Replay)
    }

    /// Their requests and answers are secret.
    private static let unrecorded: Set<DataAPI.Operation> = [.oAuth, .webhooks]

    private static var unanswered: AnyPublisher<DataAPI.ResponsePart, FMRest.APIError> {
        let reason = "Sign-ins by OAuth and calls for webhooks are not recorded."
        return Fail(error: FMRest.APIError(.invalidRequest, reason: reason)).eraseToAnyPublisher()
    }

    private let mode: Mode
    private let redaction: Redaction

    private init(_ mode: Mode, _ change: Change?) {
        self.mode = mode
        redaction = Redaction(change: change)
    }

    /// Writes exchanges to a folder, which is made if it does not exist.
    ///
    /// - Parameters:
    ///   - folder: must hold no recording yet.
    ///   - change: changes the values of fields before they are written. The default writes them as they are.
    /// - Throws: ``RecordingError``.
    public convenience init(to folder: URL, changing change: Change? = nil) throws(RecordingError) {
        self.init(.writing(try ExchangeWriter(RecordingFolder(url: folder))), change)
    }

    /// Answers from a folder of recorded exchanges. Nothing is sent; the host of the server may be any.
    ///
    /// A request gets the answer of the exchange that asked the same: operation, names, parameters and values. Several
    /// exchanges that asked the same are answered in their order; the last one is repeated for reads and logins, not
    /// for writes. A logout that was not recorded succeeds. A request that was not recorded fails with
    /// `FMRest.APIError.Code.invalidRequest`; its reason names the nearest exchange and where that differs.
    ///
    /// - Parameters:
    ///   - folder: the folder with the files.
    ///   - change: the closure that the recording was made with.
    /// - Throws: ``RecordingError`` if there is no recording or a file cannot be read.
    public static func replaying(_ folder: URL, changing change: Change? = nil) throws(RecordingError) -> Recording {
        Recording(.answering(try Replay(RecordingFolder(url: folder))), change)
    }
}
