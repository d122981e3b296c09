extension Sandbox {
    /// When a scripted fault strikes.
    public struct FaultRule: Sendable, Equatable {
        /// The fault.
        public var fault: Fault
        /// The endpoint it is meant for; every one that it can happen to if nil.
        public var endpoint: Endpoint?
        /// How many matching requests pass before it strikes. The default is none.
        public var skipping: Int
        /// How many times it strikes; once by default, always if nil.
        public var count: Int?

        /// A fault and when it strikes.
        public init(_ fault: Fault, on endpoint: Endpoint? = nil, skipping: Int = 0, count: Int? = 1) {
            self.fault = fault
            self.endpoint = endpoint
            self.skipping = skipping
            self.count = count
        }
    }
}

/// The faults that are still to come. The first rule that fits a request and is due strikes; the others wait their turn.
struct FaultScript: Sendable, Equatable {
    private(set) var rules: [Sandbox.FaultRule] = []

    mutating func add(_ rule: Sandbox.FaultRule) { rules.append(rule) }

    mutating func next(for endpoint: Sandbox.Endpoint) -> Sandbox.Fault? {
        for index in rules.indices where rules[index].fits(endpoint) {
            if rules[index].skipping > 0 {
                rules[index].skipping -= 1
                continue
            }
            let fault = rules[index].fault
            if let count = rules[index].count {
                rules[index].count = count - 1
                if count <= 1 { rules.remove(at: index) }
            }
            return fault
        }
        return nil
    }
}

extension Sandbox.FaultRule {
    fileprivate func fits(_ endpoint: Sandbox.Endpoint) -> Bool {
        (self.endpoint == nil || self.endpoint == endpoint) && fault.strikes(endpoint)
    }
}
