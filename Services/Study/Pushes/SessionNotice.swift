import Base
import Schemas

/// What a push about a session tells persons. It names nobody, and neither the class nor what the session is about: the app
/// fetches that when it is opened.
enum SessionNotice: CaseIterable, Sendable {
    /// Somebody invites the person.
    case invited
    /// Somebody has come to the session that the person hosts.
    case joined
    case posted
    /// The person hosts it now.
    case handedOver
    case endsSoon, ended
    /// A session of a class about whose sessions the person wants to know.
    case begun

    /// How long the end of a session is worth a push.
    private static let endedTime = Milliseconds.seconds(3_600)

    var kind: PushKind {
        switch self {
        case .invited: .sessionInvite
        case .joined: .sessionJoin
        case .posted: .sessionPost
        case .handedOver: .sessionHost
        case .endsSoon: .sessionEnding
        case .ended: .sessionEnded
        case .begun: .sessionNew
        }
    }

    /// A later push of the same kind about the same session replaces an earlier one on a device.
    func message(about session: SessionDocument) -> PersonPush {
        PersonPush(id: "\(session.id)", link: link(to: session), texts: texts, urgency: urgency)
    }

    /// When nobody needs to know it any more.
    func expiry(of session: SessionDocument, at now: UnixMilliseconds) -> UnixMilliseconds {
        self == .ended ? (session.ended ?? now) + Self.endedTime : session.ends
    }

    /// The place in the app.
    private func link(to session: SessionDocument) -> String {
        self == .ended ? "#study/past" : "#study/session/\(session.classID)/\(session.id)"
    }

    private var urgency: Urgency {
        switch self {
        case .invited, .joined, .handedOver, .endsSoon, .ended: .high
        case .posted, .begun: .normal
        }
    }

    /// A sentence in the languages of the app.
    private var texts: [String: String] {
        switch self {
        case .invited: ["en": "You are invited to a study session", "ar": "دُعيت إلى جلسة دراسية"]
        case .joined: ["en": "Someone joined your study session", "ar": "انضم أحدهم إلى جلستك الدراسية"]
        case .posted: ["en": "There are new posts in your study session", "ar": "توجد منشورات جديدة في جلستك الدراسية"]
        case .handedOver: ["en": "You host a study session now", "ar": "أصبحت مضيف جلسة دراسية"]
        case .endsSoon: ["en": "Your study session ends soon", "ar": "تنتهي جلستك الدراسية قريبًا"]
        case .ended: ["en": "Your study session has ended", "ar": "انتهت جلستك الدراسية"]
        case .begun: ["en": "A study session has begun in your class", "ar": "بدأت جلسة دراسية في إحدى موادك"]
        }
    }
}
