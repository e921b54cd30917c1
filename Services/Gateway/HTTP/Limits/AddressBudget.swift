/// What a request without a sign-in counts as. Each kind has its own limit for a client address, so that the thousands of phones
/// behind a campus's address do not use up what its portals and sign-ins need.
enum AddressBudget: String, CaseIterable, Sendable {
    /// All requests but those of phones.
    case general = "address"
    /// Phones' questions about the cube and about messages.
    case phones
    /// Phones' reports, which the hub stores.
    case receipts
    /// Phones' questions to Google, which limits the hub.
    case phoneTopics = "phone-topics"

    /// The requests of a client address a minute.
    ///
    /// - Parameter general: The setting, for ``general``.
    func perMinute(general: Int) -> Int {
        switch self {
        case .general: general
        case .phones: general * 4
        case .receipts: max(general / 2, 1)
        case .phoneTopics: max(general / 4, 1)
        }
    }
}

extension Route {
    /// The route whose requests without a sign-in count for a budget.
    func counted(as budget: AddressBudget) -> Route {
        var route = self
        route.budget = budget
        return route
    }
}
