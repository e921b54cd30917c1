import Base
import Store

/// What two persons are to each other, seen by one of them, and how an action of that one changes both sides. Pure.
///
/// | state | |
/// |---|---|
/// | `asked` | this side has asked, and has no answer that it knows of |
/// | `received` | the other side has asked |
/// | `friends` | both sides |
/// | `declined` | this side has declined, which the other side is not told; for a time it is not asked again |
/// | `blocked` | this side has blocked the other one, which has nothing then, except for its own `declined` |
struct Friendship: Hashable, Sendable {
    /// The state of one side; the store has no document for none.
    enum State: String, ClosedEnum, IndexValue {
        case asked, received, friends, declined, blocked
    }

    enum Action: CaseIterable, Sendable {
        case ask, accept, decline, remove, block, unblock
    }

    /// What the other person is told.
    enum Notice: Hashable, Sendable {
        case asked, accepted
    }

    struct Outcome: Hashable, Sendable {
        let after: Friendship
        var notice: Notice?
    }

    var mine: State?
    var theirs: State?

    static let friends = Friendship(mine: .friends, theirs: .friends)

    /// Whether one of the two does not find the other.
    var isBlocked: Bool { mine == .blocked || theirs == .blocked }

    /// What an action of this side makes of it. Repeated, the action changes nothing.
    ///
    /// - Returns: `nil` if it is refused: this side does not find the other one, or there is no request to answer.
    func after(_ action: Action) -> Outcome? {
        switch action {
        case .ask: afterAsking
        case .accept: afterAccepting
        case .decline: afterDeclining
        case .remove: Outcome(after: removed)
        case .block: afterBlocking
        case .unblock: Outcome(after: mine == .blocked ? Friendship(mine: nil, theirs: theirs) : self)
        }
    }

    private var afterAsking: Outcome? {
        if isBlocked { return nil }
        if self == .friends { return Outcome(after: self) }
        if mine == .received || theirs == .asked { return Outcome(after: .friends, notice: .accepted) }
        // It sees no difference to a request that nobody has answered yet.
        if theirs == .declined { return Outcome(after: Friendship(mine: .asked, theirs: .declined)) }
        let asked = Friendship(mine: .asked, theirs: .received)
        return Outcome(after: asked, notice: self == asked ? nil : .asked)
    }

    private var afterAccepting: Outcome? {
        if self == .friends { return Outcome(after: self) }
        return mine == .received && theirs == .asked ? Outcome(after: .friends, notice: .accepted) : nil
    }

    private var afterDeclining: Outcome? {
        if isBlocked { return nil }
        return mine == .received || mine == .declined ? Outcome(after: Friendship(mine: .declined, theirs: theirs)) : nil
    }

    private var removed: Friendship {
        switch mine {
        case .friends: Friendship(mine: nil, theirs: theirs == .friends ? nil : theirs)
        case .asked: Friendship(mine: nil, theirs: theirs == .received ? nil : theirs)
        case .received, .declined, .blocked, nil: self
        }
    }

    private var afterBlocking: Outcome? {
        if mine == .blocked { return Outcome(after: self) }
        if theirs == .blocked { return nil }
        // Otherwise blocking and unblocking would undo the other one's decline.
        return Outcome(after: Friendship(mine: .blocked, theirs: theirs == .declined ? .declined : nil))
    }
}
