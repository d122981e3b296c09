import Foundation
import NIOCore

extension Sandbox {
    /// A port that the sandbox cannot listen on.
    public struct PortError: Error, Equatable, Sendable, CustomStringConvertible {
        /// The port that was asked for.
        public var port: Int
        /// What is wrong with it.
        public var reason: String

        /// An error about a port.
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

        /// The port and what is wrong with it, in one line.
        public var description: String { "port \(port) of \(SandboxServer.address): \(reason)" }
    }
}
