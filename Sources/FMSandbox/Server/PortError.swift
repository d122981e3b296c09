import Foundation
import NIOCore

extension Sandbox {
    /// An error for a port on which the sandbox cannot listen.
    public struct PortError: Error, Equatable, Sendable, CustomStringConvertible {
        /// The requested port.
        public var port: Int
        /// The reason.
        public var reason: String

        /// Creates an error about a port.
        public init(port: Int, reason: String) {
            self.port = port
            self.reason = reason
        }

        init(port: Int, _ error: IOError) {
            let reason =
                switch error.errnoCode {
                case EADDRINUSE: "another program listens on it"
                case EACCES: "only an administrator may listen on it"
                default: String(cString: strerror(error.errnoCode))
                }
            self.init(port: port, reason: reason)
        }

        /// The port and the reason, in one line.
        public var description: String { "port \(port) of \(SandboxServer.address): \(reason)" }
    }
}
