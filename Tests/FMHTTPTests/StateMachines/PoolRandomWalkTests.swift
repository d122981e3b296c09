import FMTestSupport
import NIOCore
import Testing

@testable import FMHTTP

/// The pool against a model of the allowed behaviour: random events, and every action checked.
struct PoolRandomWalkTests {
    private static let seeds = 1...UInt64(Effort.of(40, brief: 8))

    @Test(arguments: seeds)
    func everyRequestEndsOnceAndNothingIsLeft(seed: UInt64) {
        var walk = Walk(seed: seed)
        for _ in 0..<2_000 { walk.step() }
        walk.finish()
    }

    /// The knowledge of the outside world, independent of the machine.
    private struct Walk {
        private enum Connection { case connecting, idle, running(RequestID), ordered }

        private var random: SeededRandom
        private var machine = PoolStateMachine(settings: .init(maximumConnections: 4))
        private var connections: [ConnectionID: Connection] = [:]
        private var waiting: [RequestID: PoolStateMachine.Reuse] = [:]
        private var used: Set<ConnectionID> = []
        /// Connections that came back without having been used.
        private var unknownAge: Set<ConnectionID> = []
        private var now = NIODeadline.uptimeNanoseconds(1_000_000_000_000)
        private var lastRequest = 0
        private var isDrained = false

        init(seed: UInt64) { random = SeededRandom(seed: seed) }

        mutating func step() {
            now = now + .milliseconds(Int64.random(in: 0...300, using: &random))
            switch Int.random(in: 0..<10, using: &random) {
            case 0...3: submit()
            case 4: cancel()
            case 5: connectEnds(well: Int.random(in: 0..<4, using: &random) > 0)
            case 6, 7: release()
            case 8: close()
            default: apply(machine.timePassed(now: now))
            }
            checkCounts()
        }

        mutating func finish() {
            apply(machine.shutDown())
            #expect(waiting.isEmpty)
            var rounds = 0
            while !connections.isEmpty, rounds < 100 {
                rounds += 1
                connectEnds(well: Bool.random(using: &random))
                release()
                close()
            }
            #expect(isDrained)
            #expect(machine.counts == PoolCounts())
        }

        private mutating func submit() {
            lastRequest += 1
            let id = RequestID(number: lastRequest)
            let reuse: PoolStateMachine.Reuse = [.any, .recent, .never].randomElement(using: &random) ?? .any
            let deadline = Bool.random(using: &random) ? now + .milliseconds(500) : nil
            waiting[id] = reuse
            apply(
                machine.submitted(
                    id,
                    reuse: reuse,
                    deadline: deadline.map { .init(deadline: $0, code: .queueTimeout) },
                    now: now
                )
            )
        }

        private mutating func cancel() {
            guard let id = waiting.keys.sorted(by: { $0.number < $1.number }).randomElement(using: &random) else {
                return
            }
            waiting[id] = nil
            machine.cancelled(id)
        }

        private mutating func connectEnds(well: Bool) {
            guard let id = any(where: { if case .connecting = $0 { true } else { false } }) else { return }
            if well {
                connections[id] = .idle
                apply(machine.connected(id, now: now))
            } else {
                connections[id] = nil
                apply(machine.connectFailed(id, now: now, jitter: Double.random(in: 0..<1, using: &random)))
                let hasHope = connections.values.contains { connection in
                    switch connection {
                    case .connecting, .running: true
                    case .idle, .ordered: false
                    }
                }
                #expect(hasHope || waiting.isEmpty, "who waits for nothing is told so")
            }
        }

        private mutating func release() {
            guard let id = any(where: { if case .running = $0 { true } else { false } }) else { return }
            connections[id] = .idle
            if Int.random(in: 0..<5, using: &random) == 0 {
                unknownAge.insert(id)
                return apply(machine.returned(id, lifetime: 5, now: now))
            }
            unknownAge.remove(id)
            apply(machine.released(id, lifetime: [nil, 1, 5].randomElement(using: &random) ?? nil, now: now))
        }

        private mutating func close() {
            guard let id = any(where: { if case .connecting = $0 { false } else { true } }) else { return }
            connections[id] = nil
            apply(machine.closed(id, now: now))
        }

        private mutating func any(where condition: (Connection) -> Bool) -> ConnectionID? {
            connections.filter { condition($0.value) }.keys.sorted { $0.number < $1.number }.randomElement(
                using: &random
            )
        }

        private mutating func apply(_ actions: PoolStateMachine.Actions) {
            for id in actions.close {
                switch connections[id] {
                case .idle?, .running?: connections[id] = .ordered
                case .connecting?, .ordered?, nil: Issue.record("closed \(id), which is not open")
                }
            }
            for id in actions.abandon {
                if case .connecting? = connections[id] { continue }
                Issue.record("gave up \(id), which is not being connected")
            }
            for id in actions.connect {
                #expect(connections[id] == nil)
                connections[id] = .connecting
            }
            if let run = actions.run {
                guard let reuse = waiting.removeValue(forKey: run.request) else {
                    Issue.record("ran \(run.request), which does not wait")
                    return
                }
                guard case .idle? = connections[run.connection] else {
                    Issue.record("ran on \(run.connection), which is not idle")
                    return
                }
                #expect(reuse != .never || !used.contains(run.connection))
                #expect(reuse == .any || !unknownAge.contains(run.connection))
                used.insert(run.connection)
                connections[run.connection] = .running(run.request)
            }
            for failed in actions.fail {
                #expect(waiting.removeValue(forKey: failed.id) != nil, "failed \(failed.id), which does not wait")
            }
            if actions.isDrained {
                #expect(connections.isEmpty)
                isDrained = true
            }
            let open = connections.values.count { if case .ordered = $0 { false } else { true } }
            #expect(open <= 4)
        }

        private func checkCounts() {
            var counts = PoolCounts(waiting: waiting.count)
            for connection in connections.values {
                switch connection {
                case .connecting: counts.connecting += 1
                case .idle: counts.idle += 1
                case .running: counts.leased += 1
                case .ordered: counts.closing += 1
                }
            }
            #expect(machine.counts == counts)
        }
    }
}
