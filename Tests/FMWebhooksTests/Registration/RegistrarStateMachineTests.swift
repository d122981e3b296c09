import CustomDump
import FMData
import Foundation
import NIOCore
import Testing

@testable import FMWebhooks

/// Events in, actions out: how a registrar reacts to every recorded behaviour of servers.
@Suite struct RegistrarStateMachineTests {
    private typealias Action = RegistrarStateMachine.Action

    private static let mark = "6f0b3c1e-53f5-4b7e-9c58-0b1e9a6d2f11"
    private let now = NIODeadline.uptimeNanoseconds(0)
    private let vessels = WantedWebhook(
        url: "http://127.0.0.1:8055/\(mark)/Harbor/Vessels",
        table: "Vessels",
        secret: "s3cret",
        select: ["ROWID", "ROWMODID"],
        notifiesSchemaChanges: true,
        maximumAttempts: 100
    )

    private func machine(_ wanted: [WantedWebhook]? = nil) -> RegistrarStateMachine {
        RegistrarStateMachine(.init(wanted: wanted ?? [vessels], mark: Self.mark.uppercased()))
    }

    private func hook(_ id: Int, secret: String? = "s3cret", url: String? = nil) -> RegisteredWebhook {
        RegisteredWebhook(
            id: id,
            url: url ?? vessels.url,
            table: "vessels",
            headers: secret.map { ["x-fmdata-secret": $0] },
            select: #""ROWMODID", "ROWID""#,
            filter: "",
            notifiesSchemaChanges: true
        )
    }

    /// Another program's webhook.
    private func strange(_ id: Int) -> RegisteredWebhook {
        hook(id, url: "http://127.0.0.1:9/\(UUID().uuidString)/H/V")
    }

    private func registered(_ warnings: [WebhookHealth.Warning] = []) -> Action {
        .report(WebhookHealth(state: .registered, warnings: warnings))
    }

    /// A machine that found these webhooks at the start, and wants exactly these.
    private func started(_ hooks: [RegisteredWebhook]) -> RegistrarStateMachine {
        var machine = machine()
        _ = machine.start(now: now)
        _ = machine.answered(.hooks(hooks), now: now)
        _ = machine.rang(1, now: now)
        let actions = machine.answered(.hooks(hooks), now: now)
        expectNoDifference(actions, [registered(), .setTimer(2, at: now + .minutes(5))])
        return machine
    }

    // MARK: The start

    @Test func anEmptyFirstListMeansNothing() {
        var machine = machine()
        expectNoDifference(machine.start(now: now), [.call(.list)])
        expectNoDifference(machine.start(now: now), [])
        expectNoDifference(machine.answered(.hooks([]), now: now), [.setTimer(1, at: now + .seconds(10))])
        expectNoDifference(machine.rang(1, now: now), [.call(.list)])
        // The webhook exists, from an earlier start: nothing to do.
        expectNoDifference(
            machine.answered(.hooks([hook(3)]), now: now),
            [registered(), .setTimer(2, at: now + .minutes(5))]
        )
    }

    @Test func whatTwoListsLackIsAddedAndLookedAtSoon() {
        var machine = machine()
        _ = machine.start(now: now)
        _ = machine.answered(.hooks([strange(1)]), now: now)
        _ = machine.rang(1, now: now)
        expectNoDifference(
            machine.answered(.hooks([strange(1)]), now: now),
            [.call(.add(vessels.definition(.current)))]
        )
        expectNoDifference(machine.answered(.done, now: now), [registered(), .setTimer(2, at: now + .seconds(10))])
        expectNoDifference(machine.rang(2, now: now), [.call(.list)])
        expectNoDifference(
            machine.answered(.hooks([strange(1), hook(2)]), now: now),
            [registered(), .setTimer(3, at: now + .minutes(5))]
        )
    }

    @Test func aTimerThatIsOutOfDateDoesNothing() {
        var machine = started([hook(1)])
        expectNoDifference(machine.rang(1, now: now), [])
        expectNoDifference(machine.rang(0, now: now), [])
        expectNoDifference(machine.answered(.done, now: now), [])
        expectNoDifference(machine.rang(2, now: now), [.call(.list)])
    }

    // MARK: Leftovers and ids

    @Test func ownLeftoversGoAndThoseOfOthersStay() {
        var machine = machine()
        let leftover = hook(2, url: "http://127.0.0.1:1/x/\(Self.mark.uppercased())/Harbor/Crew")
        let all = [strange(1), leftover, hook(4), hook(3)]
        _ = machine.start(now: now)
        _ = machine.answered(.hooks(all), now: now)
        _ = machine.rang(1, now: now)
        // A duplicate is deleted too.
        expectNoDifference(machine.answered(.hooks(all), now: now), [.call(.get(2))])
        expectNoDifference(machine.answered(.hook(leftover), now: now), [.call(.delete(2))])
        expectNoDifference(machine.answered(.done, now: now), [.call(.get(3))])
        expectNoDifference(machine.answered(.hook(hook(3)), now: now), [.call(.delete(3))])
        expectNoDifference(machine.answered(.done, now: now), [registered(), .setTimer(2, at: now + .seconds(10))])
    }

    @Test func anIdThatIsSomebodyElsesByNowIsLeftAlone() {
        for found in [strange(3), nil] {
            var machine = machine()
            _ = machine.start(now: now)
            _ = machine.answered(.hooks([hook(2), hook(3)]), now: now)
            _ = machine.rang(1, now: now)
            expectNoDifference(machine.answered(.hooks([hook(2), hook(3)]), now: now), [.call(.get(3))])
            expectNoDifference(
                machine.answered(.hook(found), now: now),
                [registered(), .setTimer(2, at: now + .minutes(5))]
            )
        }
    }

    @Test func aHookThatWasDeletedIsMissedTwiceAndAddedAgain() {
        var machine = started([hook(1)])
        expectNoDifference(machine.rang(2, now: now), [.call(.list)])
        expectNoDifference(machine.answered(.hooks([strange(1)]), now: now), [.setTimer(3, at: now + .seconds(10))])
        expectNoDifference(machine.rang(3, now: now), [.call(.list)])
        expectNoDifference(
            machine.answered(.hooks([strange(1)]), now: now),
            [.call(.add(vessels.definition(.current)))]
        )
    }

    // MARK: Repairs

    @Test func aHookWithTheSecretOfAnEarlierStartIsReplaced() {
        var machine = machine()
        _ = machine.start(now: now)
        _ = machine.answered(.hooks([hook(1, secret: "old")]), now: now)
        _ = machine.rang(1, now: now)
        expectNoDifference(machine.answered(.hooks([hook(1, secret: "old")]), now: now), [.call(.get(1))])
        _ = machine.answered(.hook(hook(1, secret: "old")), now: now)
        expectNoDifference(machine.answered(.done, now: now), [.call(.add(vessels.definition(.current)))])
        _ = machine.answered(.done, now: now)
        _ = machine.rang(2, now: now)
        expectNoDifference(
            machine.answered(.hooks([hook(1)]), now: now),
            [registered(), .setTimer(3, at: now + .minutes(5))]
        )
    }

    @Test func aServerThatRefusesTheNewKeysGetsTheOldOnes() {
        var machine = machine()
        _ = machine.start(now: now)
        _ = machine.answered(.hooks([]), now: now)
        _ = machine.rang(1, now: now)
        _ = machine.answered(.hooks([]), now: now)
        expectNoDifference(
            machine.answered(.refused(status: 400, reason: "code -1009"), now: now),
            [.call(.add(vessels.definition(.older)))]
        )
        expectNoDifference(
            machine.answered(.refused(status: 400, reason: "code -1009"), now: now),
            [.report(.init(state: .failing("code -1009"))), .setTimer(2, at: now + .minutes(5))]
        )
    }

    /// The secret is missing from the webhook it has added: it is added again with the older keys, and then never
    /// again.
    @Test func aServerThatIgnoresTheNewKeysGetsTheOldOnesAndOneThatKeepsNoneIsLeftInPeace() {
        var machine = machine()
        let bare = hook(1, secret: "")
        _ = machine.start(now: now)
        _ = machine.answered(.hooks([bare]), now: now)
        for (timer, form) in [(1, WebhookDefinition.Form.current), (2, .older)] {
            expectNoDifference(machine.rang(timer, now: now), [.call(.list)])
            expectNoDifference(machine.answered(.hooks([bare]), now: now), [.call(.get(1))])
            _ = machine.answered(.hook(bare), now: now)
            expectNoDifference(machine.answered(.done, now: now), [.call(.add(vessels.definition(form)))])
            _ = machine.answered(.done, now: now)
        }
        _ = machine.rang(3, now: now)
        let warning = WebhookHealth.Warning(table: "Vessels", kind: .differs("secret"))
        for timer in [4, 5] {
            expectNoDifference(
                machine.answered(.hooks([bare]), now: now),
                [registered([warning]), .setTimer(timer, at: now + .minutes(5))]
            )
            _ = machine.rang(timer, now: now)
        }
    }

    @Test func whatAServerDoesNotTellFits() {
        var bare = hook(1, secret: nil)
        bare.select = nil
        bare.filter = nil
        bare.notifiesSchemaChanges = nil
        expectNoDifference(vessels.difference(from: bare), nil)
        expectNoDifference(vessels.difference(from: hook(1, secret: "")), .secret)
        bare.filter = "Length gt 3"
        expectNoDifference(vessels.difference(from: bare), .filter)
        bare.select = "ROWID"
        expectNoDifference(vessels.difference(from: bare), .select)
        bare.table = "Crew"
        expectNoDifference(vessels.difference(from: bare), .table)
    }

    // MARK: Trouble

    @Test func failuresArePausedLongerAndLongerAndRefusalsForLongAtOnce() {
        var machine = machine()
        _ = machine.start(now: now)
        for (number, seconds) in [5, 10, 20, 40, 80, 160, 300, 300].enumerated() {
            expectNoDifference(
                machine.answered(.failed(reason: "down"), now: now),
                [.report(.init(state: .failing("down"))), .setTimer(number + 1, at: now + .seconds(Int64(seconds)))]
            )
            expectNoDifference(machine.rang(number + 1, now: now), [.call(.list)])
        }
        // Repeated wrong passwords lock the account.
        expectNoDifference(
            machine.answered(.refused(status: 401, reason: "no"), now: now),
            [.report(.init(state: .failing("no"))), .setTimer(9, at: now + .minutes(5))]
        )
    }

    @Test func anAddOfUnknownOutcomeIsLookedForBeforeItIsRepeated() {
        var machine = started([hook(1)])
        _ = machine.rang(2, now: now)
        _ = machine.answered(.hooks([]), now: now)
        _ = machine.rang(3, now: now)
        _ = machine.answered(.hooks([]), now: now)
        expectNoDifference(
            machine.answered(.failed(reason: "cut"), now: now),
            [.report(.init(state: .failing("cut"))), .setTimer(4, at: now + .seconds(5))]
        )
        _ = machine.rang(4, now: now)
        expectNoDifference(
            machine.answered(.hooks([hook(1)]), now: now),
            [registered(), .setTimer(5, at: now + .minutes(5))]
        )
    }

    @Test func aQueueThatIsStuckIsAWarning() {
        var machine = started([hook(1)])
        _ = machine.rang(2, now: now)
        var stuck = hook(1)
        stuck.pending = [.init(operation: "UPDATE", attempts: 3, errorCode: -1002, errorMessage: "syntax error")]
        _ = machine.answered(.hooks([stuck]), now: now)
        _ = machine.rang(3, now: now)
        stuck.pending[0].attempts = 4
        stuck.pending.append(.init(operation: "UPDATE", attempts: 0, errorCode: 0, errorMessage: ""))
        let warning = WebhookHealth.Warning(
            table: "vessels",
            kind: .stuck(attempts: 4, errorCode: -1002, message: "syntax error")
        )
        expectNoDifference(
            machine.answered(.hooks([stuck]), now: now),
            [registered([warning]), .setTimer(4, at: now + .minutes(5))]
        )
    }

    // MARK: The end

    private func stopped(_ left: Int) -> [Action] { [.report(.init(state: .stopped(hooksLeft: left))), .finish] }

    @Test func theEndDeletesWhatIsItsOwn() {
        var machine = started([hook(1)])
        expectNoDifference(machine.stop(now: now), [.setTimer(0, at: now + .seconds(30)), .call(.list)])
        expectNoDifference(machine.stop(now: now), [])
        expectNoDifference(machine.answered(.hooks([strange(2), hook(1)]), now: now), [.call(.get(1))])
        expectNoDifference(machine.answered(.hook(hook(1)), now: now), [.call(.delete(1))])
        expectNoDifference(machine.answered(.done, now: now), stopped(0))
        expectNoDifference(machine.rang(0, now: now), [])
        expectNoDifference(machine.start(now: now), [])
    }

    @Test func anEmptyListAtTheEndIsReadAgain() {
        var machine = started([hook(1)])
        _ = machine.stop(now: now)
        expectNoDifference(machine.answered(.hooks([]), now: now), [.setTimer(3, at: now + .seconds(10))])
        expectNoDifference(machine.rang(3, now: now), [.call(.list)])
        expectNoDifference(machine.answered(.hooks([hook(1)]), now: now), [.call(.get(1))])
    }

    @Test func theEndWaitsForWhatIsUnderWayAndThenLooks() {
        var machine = started([hook(1)])
        _ = machine.rang(2, now: now)
        _ = machine.answered(.hooks([]), now: now)
        _ = machine.rang(3, now: now)
        _ = machine.answered(.hooks([]), now: now)
        // The webhook is being added.
        expectNoDifference(machine.stop(now: now), [.setTimer(0, at: now + .seconds(30))])
        expectNoDifference(machine.answered(.done, now: now), [.call(.list)])
        expectNoDifference(machine.answered(.hooks([hook(1)]), now: now), [.call(.get(1))])
    }

    @Test func anEndThatTakesTooLongIsAnEndAndSaysWhatIsLeft() {
        var machine = started([hook(1)])
        _ = machine.stop(now: now)
        expectNoDifference(
            machine.answered(.failed(reason: "down"), now: now),
            [.report(.init(state: .failing("down"))), .setTimer(3, at: now + .seconds(5))]
        )
        expectNoDifference(machine.rang(3, now: now), [.call(.list)])
        expectNoDifference(machine.rang(0, now: now), stopped(1))
        expectNoDifference(machine.answered(.hooks([hook(1)]), now: now), [])
    }

    @Test func whatWasNeverStartedEndsAtOnce() {
        var machine = machine()
        expectNoDifference(machine.stop(now: now), stopped(0))
        expectNoDifference(machine.start(now: now), [])
    }
}
