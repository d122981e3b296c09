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
        try await WebhookInstallation.run { harbor in
            let registrar = try harbor.registrar()
            let health = await harbor.start(registrar)
            expectNoDifference(harbor.sandbox.webhooks.map(\.table), ["Contacts"])
            expectNoDifference(harbor.sandbox.webhooks.map(\.headers), [[WebhookKey.header: "s3cret"]])
            try await harbor.edit(2)
            await harbor.delivered(1)
            expectNoDifference(
                harbor.sandbox.webhookDeliveries,
                [
                    .init(webhookID: 1, operation: "UPDATE", rowIDs: [2], status: 200)
                ]
            )
            #expect(await harbor.nextHint() == [2])
            expectNoDifference(harbor.hints.values.map(\.database), ["World"])
            expectNoDifference(harbor.hints.values.map(\.table), ["Contacts"])
            await registrar.stop()
            expectNoDifference(harbor.sandbox.webhooks, [])
            await health.completion()
            expectNoDifference(health.values.last, .init(state: .stopped(hooksLeft: 0)))
        }
    }

    @Test func aColdEmptyListMakesNoDuplicateHook() async throws {
        try await WebhookInstallation.run(.init(coldList: true)) { harbor in
            try await harbor.startAndCrash()
            let first = harbor.sandbox.webhooks
            expectNoDifference(first.count, 1)
            // The program starts again, and the server has restarted too.
            harbor.sandbox.restart()
            let registrar = try harbor.registrar()
            _ = await harbor.start(registrar)
            expectNoDifference(harbor.sandbox.webhooks, first)
            // The first list after this restart is empty again, now while the registrar stops.
            harbor.sandbox.restart()
            let stopping = Task { await registrar.stop() }
            await harbor.time.untilAlarm(in: .seconds(10))
            expectNoDifference(harbor.sandbox.webhooks, first)
            harbor.time.advance(by: .seconds(10))
            await stopping.value
            expectNoDifference(harbor.sandbox.webhooks, [])
        }
    }

    @Test func anIdThatHasBecomeSomebodyElsesIsNotDeleted() async throws {
        try await WebhookInstallation.run { harbor in
            let registrar = try harbor.registrar()
            let health = await harbor.start(registrar)
            await harbor.round(after: .seconds(10))
            // The round is over, so the next one is the first without the webhook.
            await harbor.time.untilAlarm(in: .minutes(5))
            // Another program deletes the webhook, and the next one gets its id.
            _ = try await harbor.other.deleteWebhook(1, WebhookInstallation.credentials).firstValue()
            let stranger = WebhookDefinition(
                url: "http://127.0.0.1:9/stranger",
                table: "Contacts",
                headers: [:],
                select: [],
                notifiesSchemaChanges: false,
                maximumAttempts: 1,
                form: .current
            )
            _ = try await harbor.other.addWebhook(stranger, WebhookInstallation.credentials).firstValue()
            expectNoDifference(harbor.sandbox.webhooks.map(\.url), ["http://127.0.0.1:9/stranger"])
            await harbor.round(after: .minutes(5), looksTwice: true)
            await until { harbor.sandbox.webhooks.count == 2 }
            expectNoDifference(harbor.sandbox.webhooks.map(\.id), [1, 2])
            await registrar.stop()
            expectNoDifference(harbor.sandbox.webhooks.map(\.url), ["http://127.0.0.1:9/stranger"])
            await health.completion()
        }
    }

    @Test func anotherSecretReplacesTheHookOfAnEarlierStart() async throws {
        try await WebhookInstallation.run { harbor in
            try await harbor.startAndCrash(WebhookKey(mark: harbor.key.mark, secret: "old"))
            let registrar = try harbor.registrar()
            _ = await harbor.start(registrar)
            expectNoDifference(harbor.sandbox.webhooks.map(\.headers), [[WebhookKey.header: "s3cret"]])
        }
    }

    @Test(arguments: Sandbox.WebhookTraits.Spelling.allCases)
    func aServerThatTakesTheOlderKeysAlone(_ spelling: Sandbox.WebhookTraits.Spelling) async throws {
        try await WebhookInstallation.run(.init(spelling: spelling, takesEndpointHeaders: false)) { harbor in
            let registrar = try harbor.registrar(tables: ["Contacts", "Phones"])
            _ = await harbor.start(registrar)
            expectNoDifference(harbor.sandbox.webhooks.map(\.table), ["Contacts", "Phones"])
            try await harbor.edit(1)
            await harbor.delivered(1)
            #expect(await harbor.nextHint() == [1])
            await registrar.stop()
            expectNoDifference(harbor.sandbox.webhooks, [])
        }
    }

    @Test func aServerThatCannotBeReachedIsSaidAndWaitedFor() async throws {
        try await WebhookInstallation.run { harbor in
            let registrar = WebhookRegistrar(
                database: harbor.database,
                credentials: Credentials(user: "nobody", password: "pa55word"),
                key: harbor.key,
                receiverURL: "http://127.0.0.1:9",
                tables: ["Contacts"]
            )
            let health = TrackingSubscriber<WebhookHealth, Never>()
            registrar.health.subscribe(health)
            registrar.start()
            await harbor.time.untilAlarm(in: .minutes(5))
            await health.valueCount(atLeast: 2)
            guard case .failing(let reason)? = health.values.last?.state else {
                Issue.record("it does not fail")
                return
            }
            #expect(reason.contains("212"))
            #expect(!"\(health.values)".contains("pa55word"))
            #expect(!"\(health.values)".contains(harbor.key.mark.uuidString.lowercased()))
            // It cannot read the list, so it ends at once.
            await registrar.stop()
            await health.completion()
        }
    }

    // MARK: Deliveries

    @Test func whatComesTwiceInTheWrongOrderOrSpoiltIsAHintAndAnswered200() async throws {
        try await WebhookInstallation.run { harbor in
            let registrar = try harbor.registrar()
            _ = await harbor.start(registrar)
            harbor.sandbox.inject(webhook: .duplicate)
            try await harbor.edit(1)
            await harbor.delivered(2)
            #expect(await harbor.nextHint() == [1])

            harbor.sandbox.inject(webhook: .swap)
            try await harbor.edit(2)
            try await harbor.edit(3)
            await harbor.delivered(4)
            expectNoDifference(harbor.sandbox.webhookDeliveries.suffix(2).map(\.rowIDs), [[3], [2]])
            #expect(await harbor.nextHint() == [2, 3])

            harbor.sandbox.inject(webhook: .garbageBody)
            try await harbor.edit(1, name: "y")
            await harbor.delivered(5)
            #expect(await harbor.nextHint() == [-1])

            harbor.sandbox.inject(webhook: .drop)
            try await harbor.edit(2, name: "y")
            await until { harbor.sandbox.webhooks.allSatisfy { $0.pendingCount == 0 } }
            try await harbor.edit(3, name: "y")
            await harbor.delivered(6)
            #expect(await harbor.nextHint() == [3])

            harbor.sandbox.inject(webhook: .delay(.seconds(30)))
            try await harbor.edit(1, name: "z")
            await harbor.clock.untilWaiting()
            expectNoDifference(harbor.sandbox.webhookDeliveries.count, 6)
            harbor.clock.advance(by: .seconds(30))
            await harbor.delivered(7)
            #expect(await harbor.nextHint() == [1])
            expectNoDifference(harbor.sandbox.webhookDeliveries.map(\.status), Array(repeating: 200, count: 7))
            expectNoDifference(harbor.receiver.counters, .init(accepted: 7))
            await registrar.stop()
        }
    }

    @Test func aStuckQueueIsAWarningAndHoldsUpWhatIsBehindIt() async throws {
        try await WebhookInstallation.run { harbor in
            let registrar = try harbor.registrar()
            let health = await harbor.start(registrar)
            harbor.sandbox.inject(webhook: .stuck)
            try await harbor.edit(1)
            try await harbor.edit(2)
            for (number, pause) in [1, 2, 4, 8].enumerated() {
                await harbor.sandbox.untilWebhookDeliveries(number + 1)
                await harbor.clock.untilWaiting()
                harbor.clock.advance(by: .seconds(pause))
            }
            await harbor.sandbox.untilWebhookDeliveries(5)
            expectNoDifference(harbor.receiver.counters.accepted, 0)
            await harbor.round(after: .seconds(10))
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
            harbor.sandbox.clearWebhookFaults()
            await harbor.clock.untilWaiting()
            harbor.clock.advance(by: .seconds(16))
            await harbor.delivered(7, accepted: 2)
            #expect(await harbor.nextHint() == [1, 2])
            await harbor.round(after: .minutes(5))
            await health.wait { events in
                guard case .value(let last)? = events.last else { return false }
                return last.warnings.isEmpty
            }
            await registrar.stop()
        }
    }

    @Test(arguments: Sandbox.WebhookTraits.DeleteBody.allCases)
    func aDeletionAndATruncatedTable(_ body: Sandbox.WebhookTraits.DeleteBody) async throws {
        try await WebhookInstallation.run(.init(deleteBody: body)) { harbor in
            let registrar = try harbor.registrar()
            _ = await harbor.start(registrar)
            _ = try await harbor.other.addLayout("Contacts").deleteRecord(recordId: 2).firstValue()
            await harbor.delivered(1)
            let hint = await harbor.nextHint()
            expectNoDifference(hint, body == .rowidOnly ? [2] : [-1])
            try harbor.sandbox.truncate(table: "Contacts", inDatabase: "World")
            await harbor.delivered(2)
            #expect(await harbor.nextHint() == [-1])
            await registrar.stop()
        }
    }

    /// The receiver rejects a delivery with a wrong secret. The server gives the webhook up, and the registrar makes it
    /// again.
    @Test func aHookThatTheServerGaveUpIsMadeAgain() async throws {
        try await WebhookInstallation.run { harbor in
            let port: Int = try #require(harbor.receiver.port)
            let registrar = WebhookRegistrar(
                database: harbor.database,
                credentials: WebhookInstallation.credentials,
                key: WebhookKey(mark: harbor.key.mark, secret: "not what the receiver expects"),
                receiverURL: "http://127.0.0.1:\(port)",
                tables: ["Contacts"],
                configuration: .init(maximumAttempts: 1)
            )
            _ = await harbor.start(registrar)
            await harbor.round(after: .seconds(10))
            await harbor.time.untilAlarm(in: .minutes(5))
            try await harbor.edit(1)
            await harbor.sandbox.untilWebhookDeliveries(1)
            expectNoDifference(harbor.sandbox.webhookDeliveries.map(\.status), [401])
            expectNoDifference(harbor.receiver.counters, .init(refused: 1))
            expectNoDifference(harbor.sandbox.webhooks, [])
            await harbor.round(after: .minutes(5), looksTwice: true)
            await until { harbor.sandbox.webhooks.count == 1 }
            expectNoDifference(harbor.hints.values, [])
            await registrar.stop()
        }
    }
}
