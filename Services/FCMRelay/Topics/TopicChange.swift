import Schemas

/// A change of phones' subscriptions to a topic.
enum TopicChange: Sendable {
    case subscribe, unsubscribe

    /// The method of the Instance ID service.
    var method: String {
        switch self {
        case .subscribe: "batchAdd"
        case .unsubscribe: "batchRemove"
        }
    }
}
