import MongoDatabase
import Schemas

/// The field `options` of a message's document, with the same names as in JSON.
extension DeliveryOptions {
    /// - Throws: ``BSONError`` for a field of another type.
    init?(_ fields: BSONFields?) throws {
        guard let fields else { return nil }
        self.init(
            image: try fields.optional("image"), collapseKey: try fields.optional("collapse_key"),
            analyticsLabel: try fields.optional("analytics_label"),
            android: try fields.optionalFields("android").map { Android(channelID: try $0.value("channel_id")) },
            apns: try fields.optionalFields("apns").map { APNs(category: try $0.value("category")) })
    }

    var document: BSONDocument {
        let fields: [(String, BSONValue?)] = [
            ("image", image?.bson), ("collapse_key", collapseKey?.bson), ("analytics_label", analyticsLabel?.bson),
            ("android", android.map { .document(["channel_id": $0.channelID.bson]) }),
            ("apns", apns.map { .document(["category": $0.category.bson]) }),
        ]
        return BSONDocument(fields.compactMap { key, value in value.map { (key, $0) } })
    }
}
