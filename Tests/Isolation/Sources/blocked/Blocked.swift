import Dispatch
import FMData
import Foundation
import Logging
import OpenCombine

/// A main thread that subscribes and then waits for something else: nothing can arrive there, and the program is told.
@main
enum Blocked {
    static func main() {
        let told = DispatchSemaphore(value: 0)
        var config = DataAPI.Config()
        config.logger = Logger(label: "blocked") { _ in Teller(told: told) }
        // Nothing listens there.
        let server = DataAPI.Server(host: "http://127.0.0.1:1", config: config)
        let subscription = info(server).sink(
            receiveCompletion: { _ in
                MainActor.preconditionIsolated()
                exit(0)
            },
            receiveValue: { _ in }
        )
        told.wait()
        withExtendedLifetime(subscription) { dispatchMain() }
    }

    nonisolated static func info(_ server: DataAPI.Server) -> AnyPublisher<DataAPI.Server.ProductInfo, FMRest.APIError>
    {
        server.getProductInfo()
    }
}

/// Ends the wait when it is told.
struct Teller: LogHandler {
    let told: DispatchSemaphore
    var logLevel = Logger.Level.warning
    var metadata: Logger.Metadata = [:]

    init(told: DispatchSemaphore) { self.told = told }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        if "\(event.message)".contains("the main thread is blocked") { told.signal() }
    }
}
