import NIOConcurrencyHelpers
import NIOCore
import NIOEmbedded
import Testing

@testable import FMDataFleet

/// The shell of a connection to the store.
@Suite struct StoreConnectionTests {
    @Test func whoeverIsClosedBeforeItsChannelIsThereClosesTheChannel() throws {
        let connection = StoreConnection(
            settings: .init(),
            observer: StoreConnection.Observer(
                ready: { _ in },
                fallBack: {},
                message: { _, _ in },
                subscriptionRefused: { _ in },
                closed: { _ in }
            )
        )
        connection.close()
        let channel = EmbeddedChannel()
        let isClosed = NIOLockedValueBox(false)
        channel.closeFuture.whenComplete { _ in isClosed.withLockedValue { $0 = true } }
        try channel.pipeline.syncOperations.addHandler(connection)
        channel.embeddedEventLoop.run()
        #expect(isClosed.withLockedValue { $0 })
    }
}
