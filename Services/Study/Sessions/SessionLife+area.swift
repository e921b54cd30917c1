import Base
import Schemas

/// The area of a session: the session ends some time after its host was seen outside, having been inside before.
///
/// Silence is not absence: a device that reports nothing starts nothing. But once it has reported from outside, silence does not
/// stop the time either, only a report from inside does.
extension SessionDocument {
    /// When the session ends because its host was seen outside of the area; `nil` if the host was not.
    func graceEnd(_ rules: StudyRules) -> UnixMilliseconds? {
        guard area.state == .outside, let since = area.since else { return nil }
        return since + Milliseconds(rules.grace)
    }

    mutating func report(_ nearness: StudyRules.Nearness, at now: UnixMilliseconds, _ rules: StudyRules) -> [SessionOutput] {
        switch (nearness, area.state) {
        case (.near, _): area = .inside
        case (.far, .inside): area = Area(state: .outside, since: now)
        // The first report from outside counts. Who was never inside has not left.
        case (.far, .outside), (.far, .never), (.unknown, _): break
        }
        return [
            .presence(
                HostPresence(
                    area.state, ends: graceEnd(rules).map { min($0, ends) }, inaccurate: nearness == .unknown))
        ]
    }

    /// The host names another place. Without a position there the host has to come first.
    mutating func move(to place: Place, _ position: Position?, _ rules: StudyRules) {
        let coordinate = place.coordinate
        if let position, rules.nearness(of: position, to: coordinate) == .near {
            area = .inside
        } else if coordinate != self.place {
            area = .never
        }
        // Who names the same place again has not chosen it.
        if coordinate != self.place { (placedBy, forgetsPlace) = (host, nil) }
        self.place = coordinate
        placeName = place.name
    }
}

extension SessionDocument.Area {
    static let never = SessionDocument.Area(state: .never, since: nil)
    static let inside = SessionDocument.Area(state: .inside, since: nil)
}

extension StudyRules {
    /// Requires that a person is near a place.
    ///
    /// - Throws: ``CommandFailure`` with `conflict` and the field `position`. It does not say where the person or the place is.
    func requireNear(_ position: Position?, to place: Coordinate) throws(CommandFailure) {
        let problem: String
        switch position.map({ nearness(of: $0, to: place) }) {
        case .near: return
        case .far: problem = "you are more than \(radius) m away from the place"
        case .unknown: problem = "the position is not accurate enough: \(accuracy) m are necessary"
        case nil: problem = "your position is necessary, since you have to be near"
        }
        throw CommandFailure(.conflict, problem, field: "position")
    }
}
