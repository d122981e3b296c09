public import Foundation

extension DataAPI {
    /// Why the content of a container is not available: the ``FMRest/APIError/underlying`` error of an
    /// ``FMRest/APIError`` with code ``FMRest/APIError/Code/container``; see ``FMRest/APIError/containerError``.
    public struct ContainerError: Error, Hashable, Sendable {
        /// The kind of failure.
        public let code: Code
        /// The HTTP status of an answer that is neither the content nor a step on the way to it.
        public let httpStatus: Int?
        /// The origin of a URL that leads to another server. It is not part of ``description``, since it may come from
        /// a field.
        public let origin: String?
        private let detail: String?

        init(_ code: Code, httpStatus: Int? = nil, origin: String? = nil, detail: String? = nil) {
            self.code = code
            self.httpStatus = httpStatus
            self.origin = origin
            self.detail = detail
        }
    }
}

extension DataAPI.ContainerError {
    /// A kind of failure. Later versions may add kinds, so a `switch` needs a `default`.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The name of the kind.
        public let description: String

        private init(_ description: String) {
            self.description = description
        }

        // MARK: The value of the field

        /// The record has no field of that name on the layout, or no such repetition of it.
        public static let fieldMissing = Code("fieldMissing")
        /// The container is empty.
        public static let empty = Code("empty")
        /// The container only refers to a file by its path, which a Data API client cannot download.
        public static let fileReference = Code("fileReference")
        /// The value is not the URL of a container's content: the text of another field, or a URL of the Data API
        /// itself.
        public static let notAURL = Code("notAURL")
        /// The URL leads to another server; see ``DataAPI/Config/allowsForeignContainers``.
        public static let foreignOrigin = Code("foreignOrigin")

        // MARK: The download

        /// The URL is out of date, although the session is alive. Read the record again for a new one.
        public static let stale = Code("stale")
        /// The server answered with a redirect without a valid target.
        public static let invalidRedirect = Code("invalidRedirect")
        /// The server answered with a redirect from https to http.
        public static let insecureRedirect = Code("insecureRedirect")
        /// The server answered with another status; see ``DataAPI/ContainerError/httpStatus``.
        public static let unavailable = Code("unavailable")

        // MARK: The local file

        /// The file could not be written.
        public static let unwritable = Code("unwritable")
    }
}

extension DataAPI.ContainerError: CustomStringConvertible {
    /// The failure in one sentence, without the value of the field.
    public var description: String {
        switch code {
        case .fieldMissing: "The record shows no such container field, or not that repetition of it."
        case .empty: "The container is empty."
        case .fileReference: "The container refers to a file by its path, which the Data API does not deliver."
        case .notAURL: "The value is not the URL of a container's content."
        case .foreignOrigin: "The container's URL leads to another server."
        case .stale: "The container's URL is out of date."
        case .invalidRedirect: "The server redirects to nowhere."
        case .insecureRedirect: "The server redirects from https to http."
        case .unavailable: "The server does not deliver the content" + (httpStatus.map { " (HTTP \($0))." } ?? ".")
        default: detail ?? code.description
        }
    }

    var hint: String? {
        switch code {
        case .fieldMissing: "Is the field on the layout, and spelled like this?"
        case .notAURL: "Only a container field has content to download."
        case .foreignOrigin:
            "Name the server as its container URLs do, or see Config.allowsForeignContainers for content without a token."
        case .stale: "Read the record again, or use downloadContainer(fieldName:recordId:), which does."
        default: nil
        }
    }
}

extension FMRest.APIError {
    /// Why the content of a container is not available; `nil` if this is another kind of failure.
    ///
    ///     guard error.containerError?.code == .empty else { throw error }
    public var containerError: DataAPI.ContainerError? { underlying as? DataAPI.ContainerError }

    init(_ error: DataAPI.ContainerError) {
        self.init(
            .container,
            reason: "\(error)",
            hint: error.hint,
            httpStatus: error.httpStatus,
            underlying: error
        )
    }
}

extension DataAPI.ContainerError: APIErrorConvertible {
    package var apiError: FMRest.APIError { FMRest.APIError(self) }
}

extension DataAPI.ContainerError: LocalizedError {
    /// What is wrong, without the value of the field.
    public var errorDescription: String? { description }

    /// What to check or change, where the library knows.
    public var recoverySuggestion: String? { hint }
}
