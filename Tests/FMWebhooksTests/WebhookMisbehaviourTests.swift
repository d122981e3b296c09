import CustomDump
import FMData
import FMSandbox
import FMTestSupport
import Foundation
import NIOCore
import OpenCombine
import Testing

@testable import FMWebhooks

/// The recorded misbehaviour of webhooks, with a server that shows all of it.
@Suite(.timeLimit(.minutes(15))) struct WebhookMisbehaviourTests {
    // MARK: Registration

    @Test func aHookIsMadeDeliversAndGoes() async throws {
        try await WebhookInstallation.run { installation in
            let registrar = try installation.registrar()
            let health = await installation.start(registrar)
            expectNoDifference(installation.sandbox.webhooks.map(\.table), ["Contacts"])
            expectNoDifference(installation.sandbox.webhooks.map(\.headers), [[WebhookKey.header: "s3cret"]])
            try await installation.edit(2)
            await installation.delivered(1)
            expectNoDifference(
                installation.sandbox.webhookDeliveries,
                [
                    .init(webhookID: 1, operation: "UPDATE", rowIDs: [2], status: 200)
                ]
            )
            #expect(await installation.nextHint() == [2])
            expectNoDifference(installation.hints.values.map(\.database), ["World"])
            expectNoDifference(installation.hints.values.map(\.table), ["Contacts"])
            await registrar.stop()
            expectNoDifference(installation.sandbox.webhooks, [])
            await health.completion()
            expectNoDifference(health.values.last, .init(state: .stopped(hooksLeft: 0)))
        }
    }

    @Test func aColdEmptyListMakesNoDuplicateHook() async throws {
        try await WebhookInstallation.run(.init(coldList: true)) { installation in
            try await installation.startAndCrash()
            let first = installation.sandbox.webhooks
            expectNoDifference(first.count, 1)
            // The program starts again, and the server has restarted too.
            installation.sandbox.restart()
            let registrar = try installation.registrar()
            _ = await installation.start(registrar)
            expectNoDifference(installation.sandbox.webhooks, first)
            // The first list after this restart is empty again, now while the registrar stops.
            installation.sandbox.restart()
            let stopping = Task { await registrar.stop() }
            await installation.time.untilTimer(in: .seconds(10))
            expectNoDifference(installation.sandbox.webhooks, first)
            installation.time.advance(by: .seconds(10))
            await stopping.value
            expectNoDifference(installation.sandbox.webhooks, [])
        }
    }

    @Test func anIdThatHasBecomeSomebodyElsesIsNotDeleted() async throws {
        try await WebhookInstallation.run { installation in
            let registrar = try installation.registrar()
            let health = await installation.start(registrar)
            await installation.round(after: .seconds(10))
            // The round is over, so the next one is the first without the webhook.
            await installation.time.untilTimer(in: .seconds(300))
            // Another program deletes the webhook, and the next one gets its id.
            _ = try await installation.other.deleteWebhook(1, WebhookInstallation.credentials).firstValue()
            let stranger = WebhookDefinition(
                url: "http://127.0.0.1:9/stranger",
                table: "Contacts",
                headers: [:],
                select: [],
                notifiesSchemaChanges: false,
                maximumAttempts: 1,
                form: .current
            )
            _ = try await installation.other.addWebhook(stranger, WebhookInstallation.credentials).firstValue()
            expectNoDifference(installation.sandbox.webhooks.map(\.url), ["http://127.0.0.1:9/stranger"])
            await installation.round(after: .seconds(300), looksTwice: true)
            await until { installation.sandbox.webhooks.count == 2 }
            expectNoDifference(installation.sandbox.webhooks.map(\.id), [1, 2])
            await registrar.stop()
            expectNoDifference(installation.sandbox.webhooks.map(\.url), ["http://127.0.0.1:9/stranger"])
            await health.completion()
        }
    }

    @Test func anotherSecretReplacesTheHookOfAnEarlierStart() async throws {
        try await WebhookInstallation.run { installation in
            try await installation.startAndCrash(WebhookKey(mark: installation.key.mark, secret: "old"))
            let registrar = try installation.registrar()
            _ = await installation.start(registrar)
            expectNoDifference(installation.sandbox.webhooks.map(\.headers), [[WebhookKey.header: "s3cret"]])
        }
    }

    @Test(arguments: Sandbox.WebhookTraits.Spelling.allCases)
    func aServerThatTakesTheOlderKeysAlone(_ spelling: Sandbox.WebhookTraits.Spelling) async throws {
        try await WebhookInstallation.run(.init(spelling: spelling, takesEndpointHeaders: false)) { installation in
            let registrar = try installation.registrar(tables: ["Contacts", "Phones"])
            _ = await installation.start(registrar)
            expectNoDifference(installation.sandbox.webhooks.map(\.table), ["Contacts", "Phones"])
            try await installation.edit(1)
            await installation.delivered(1)
            #expect(await installation.nextHint() == [1])
            await registrar.stop()
            expectNoDifference(installation.sandbox.webhooks, [])
        }
    }

    @Test func aServerThatCannotBeReachedIsSaidAndWaitedFor() async throws {
        try await WebhookInstallation.run { installation in
            let registrar = WebhookRegistrar(
                database: installation.database,
                credentials: Credentials(user: "nobody", password: "pa55word"),
                key: installation.key,
                receiverURL: "http://127.0.0.1:9",
                tables: ["Contacts"]
            )
            let health = TrackingSubscriber<WebhookHealth, Never>()
            registrar.health.subscribe(health)
            registrar.start()
            await installation.time.untilTimer(in: .seconds(300))
            await health.valueCount(atLeast: 2)
            guard case .failing(let reason)? = health.values.last?.state else {
                Issue.record("it does not fail")
                return
            }
            #expect(reason.contains("212"))
            #expect(!"\(health.values)".contains("pa55word"))
            #expect(!"\(health.values)".contains(installation.key.mark.uuidString.lowercased()))
            // It cannot read the list, so it ends at once.
            await registrar.stop()
            await health.completion()
        }
    }

    // MARK: Deliveries

    @Test func whatComesTwiceInTheWrongOrderOrSpoiltIsAHintAndAnswered200() async throws {
        try await WebhookInstallation.run { installation in
            let registrar = try installation.registrar()
            _ = await installation.start(registrar)
            installation.sandbox.inject(webhook: .duplicate)
            try await installation.edit(1)
            await installation.delivered(2)
            #expect(await installation.nextHint() == [1])

            installation.sandbox.inject(webhook: .swap)
            try await installation.edit(2)
            try await installation.edit(3)
            await installation.delivered(4)
            expectNoDifference(installation.sandbox.webhookDeliveries.suffix(2).map(\.rowIDs), [[3], [2]])
            #expect(await installation.nextHint() == [2, 3])

            installation.sandbox.inject(webhook: .garbageBody)
            try await installation.edit(1, name: "y")
            await installation.delivered(5)
            #expect(await installation.nextHint() == [-1])

            installation.sandbox.inject(webhook: .drop)
            try await installation.edit(2, name: "y")
            await until { installation.sandbox.webhooks.allSatisfy { $0.pendingCount == 0 } }
            try await installation.edit(3, name: "y")
            await installation.delivered(6)
            #expect(await installation.nextHint() == [3])

            installation.sandbox.inject(webhook: .delay(.seconds(30)))
            try await installation.edit(1, name: "z")
            await installation.clock.untilWaiting()
            expectNoDifference(installation.sandbox.webhookDeliveries.count, 6)
            installation.clock.advance(by: .seconds(30))
            await installation.delivered(7)
            #expect(await installation.nextHint() == [1])
            expectNoDifference(installation.sandbox.webhookDeliveries.map(\.status), Array(repeating: 200, count: 7))
            expectNoDifference(installation.receiver.counters, .init(accepted: 7))
            await registrar.stop()
        }
    }

    @Test func aStuckQueueIsAWarningAndHoldsUpWhatIsBehindIt() async throws {
        try await WebhookInstallation.run { installation in
            let registrar = try installation.registrar()
            let health = await installation.start(registrar)
            installation.sandbox.inject(webhook: .stuck)
            try await installation.edit(1)
            try await installation.edit(2)
            for (number, pause) in [1, 2, 4, 8].enumerated() {
                await installation.sandbox.untilWebhookDeliveries(number + 1)
                await installation.clock.untilWaiting()
                installation.clock.advance(by: .seconds(pause))
            }
            await installation.sandbox.untilWebhookDeliveries(5)
            expectNoDifference(installation.receiver.counters.accepted, 0)
            await installation.round(after: .seconds(10))
            await health.wait { events in
                guard case .value(let last)? = events.last else { return false }
                return !last.warnings.isEmpty
            }
            let kind = WebhookHealth.Warning.Kind.stuck(
                attempts: 5,
                errorCode: -1002,
                message: "syntax error in URL at: 'id'"
            )
            expectNoDifference(
                health.values.last,
                .init(state: .registered, warnings: [.init(table: "Contacts", kind: kind)])
            )
            installation.sandbox.clearWebhookFaults()
            await installation.clock.untilWaiting()
            installation.clock.advance(by: .seconds(16))
            await installation.delivered(7, accepted: 2)
            #expect(await installation.nextHint() == [1, 2])
            await installation.round(after: .seconds(300))
            await health.wait { events in
                guard case .value(let last)? = events.last else { return false }
                return last.warnings.isEmpty
            }
            await registrar.stop()
        }
    }

    @Test(arguments: Sandbox.WebhookTraits.DeleteBody.allCases)
    func aDeletionAndATruncatedTable(_ body: Sandbox.WebhookTraits.DeleteBody) async throws {
        try await WebhookInstallation.run(.init(deleteBody: body)) { installation in
            let registrar = try installation.registrar()
            _ = await installation.start(registrar)
            _ = try await installation.other.addLayout("Contacts").deleteRecord(recordId: 2).firstValue()
            await installation.delivered(1)
            let hint = await installation.nextHint()
            expectNoDifference(hint, body == .rowidOnly ? [2] : [-1])
            try installation.sandbox.truncate(table: "Contacts", inDatabase: "World")
            await installation.delivered(2)
            #expect(await installation.nextHint() == [-1])
            await registrar.stop()
        }
    }

    /// The receiver rejects a delivery with a wrong secret. The server gives the webhook up, and the registrar makes it
    /// again.
    @Test func aHookThatTheServerGaveUpIsMadeAgain() async throws {
        try await WebhookInstallation.run { installation in
            let port: Int = try #require(installation.receiver.port)
            let registrar = WebhookRegistrar(
                database: installation.database,
                credentials: WebhookInstallation.credentials,
                key: WebhookKey(mark: installation.key.mark, secret: "not what the receiver expects"),
                receiverURL: "http://127.0.0.1:\(port)",
                tables: ["Contacts"],
                configuration: .init(maximumAttempts: 1)
            )
            _ = await installation.start(registrar)
            await installation.round(after: .seconds(10))
            await installation.time.untilTimer(in: .seconds(300))
            try await installation.edit(1)
            await installation.sandbox.untilWebhookDeliveries(1)
            expectNoDifference(installation.sandbox.webhookDeliveries.map(\.status), [401])
            expectNoDifference(installation.receiver.counters, .init(refused: 1))
            expectNoDifference(installation.sandbox.webhooks, [])
            await installation.round(after: .seconds(300), looksTwice: true)
            await until { installation.sandbox.webhooks.count == 1 }
            expectNoDifference(installation.hints.values, [])
            await registrar.stop()
        }
    }
}
