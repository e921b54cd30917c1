import MongoDatabase
import Schemas

/// An aggregation that returns one subject of a channel's document, without the rest of the document.
enum SubjectLookup {
    static func stages(of topicKey: TopicKey) -> [BSONDocument] {
        let subjects = elements(of: "$$area.subjects", as: "subject", withID: topicKey.subject)
        let area: BSONValue = [
            "id": "$$area.id", "name": "$$area.name", "desc": "$$area.desc", "access": "$$area.access", "subjects": subjects,
        ]
        let areas: BSONValue = [
            "$map": ["input": elements(of: "$areas", as: "area", withID: topicKey.area), "as": "area", "in": area]
        ]
        return [
            ["$match": ["_id": topicKey.channel.bson]],
            ["$project": ["name": 1, "desc": 1, "access": 1, "areas": areas]],
        ]
    }

    /// The elements of an array with an identifier; none if the field is no array.
    private static func elements(of array: String, as element: String, withID id: ObjectID) -> BSONValue {
        [
            "$filter": [
                "input": ["$cond": [["$isArray": .array([array.bson])], array.bson, .array([])]], "as": element.bson,
                "cond": ["$eq": [("$$" + element + ".id").bson, id.bson]],
            ]
        ]
    }
}
