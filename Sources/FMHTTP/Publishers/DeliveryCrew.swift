internal import NIOConcurrencyHelpers
internal import NIOCore

/// An object with values to deliver. `deliver` is called by one thread at a time.
protocol Deliverer: AnyObject, Sendable {
    func deliver()
}

/// The workers that deliver values, each on a ``DeliveryThread``: `DeliveryCrewStateMachine` with a lock around it.
final class DeliveryCrew: Sendable {
    private typealias Machine = DeliveryCrewStateMachine<any Deliverer>

    /// How long one delivery may take before another worker is started for the waiting ones.
    private static let slowAfter = TimeAmount.milliseconds(1)

    private let eventLoopGroup: any EventLoopGroup
    private let machine: NIOLockedValueBox<Machine>

    init(eventLoopGroup: any EventLoopGroup) {
        self.eventLoopGroup = eventLoopGroup
        machine = NIOLockedValueBox(Machine(slowAfter: Self.slowAfter))
    }

    func execute(_ deliverer: any Deliverer) {
        perform(machine.withLockedValue { $0.submitted(deliverer, now: .now()) })
    }

    private func timePassed() {
        perform(machine.withLockedValue { $0.timePassed(now: .now()) })
    }

    private func perform(_ actions: Machine.Actions) {
        if let id = actions.start {
            DeliveryThread.start { self.work(as: id) }
        }
        if let wakeAt = actions.wakeAt {
            eventLoopGroup.any().scheduleTask(deadline: wakeAt) { [weak self] in self?.timePassed() ?? () }
        }
    }

    private func work(as id: Machine.WorkerID) {
        while let deliverer = machine.withLockedValue({ $0.next(for: id, now: .now()) }) { deliverer.deliver() }
    }
}
