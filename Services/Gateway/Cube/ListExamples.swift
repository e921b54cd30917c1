import JSONSchema
package import Schemas

extension AccessList: HasExample {
    package static var example: AccessList { AccessList(access: ["ann", "bob"].compactMap { AccountName($0) }) }
}

extension CubeOrder: HasExample {
    package static var example: CubeOrder { CubeOrder(ids: [TopicKey.exampleTopic.area, TopicKey.exampleTopic.subject]) }
}

extension Approval: HasExample {
    package static var example: Approval { Approval(approval: true) }
}
