//! HorizontalPodAutoscalers: their targets and conditions.

use serde::Deserialize;

use super::condition::Condition;
use super::meta::{Meta, nullable};
use super::target::TargetRef;
use super::{Kind, KindInfo, Listed, object};

/// A HorizontalPodAutoscaler.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct HorizontalPodAutoscaler {
    /// Name, namespace, labels.
    pub metadata: Meta,
    #[serde(deserialize_with = "nullable")]
    pub spec: AutoscalerSpec,
    #[serde(deserialize_with = "nullable")]
    pub status: AutoscalerStatus,
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AutoscalerSpec {
    #[serde(deserialize_with = "nullable")]
    pub scale_target_ref: TargetRef,
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct AutoscalerStatus {
    /// Includes `ScalingActive`: whether it can compute the number of replicas.
    #[serde(deserialize_with = "nullable")]
    pub conditions: Vec<Condition>,
}

impl Listed for HorizontalPodAutoscaler {
    type Object = HorizontalPodAutoscaler;
    const KIND: Kind = Kind::HorizontalPodAutoscaler;
    const INFO: KindInfo = KindInfo {
        aliases: &["hpa"],
        passes: "{spec: {scaleTargetRef: reference}, status: {conditions: conditions}}",
        ..KindInfo::namespaced("autoscaling", "v2", "HorizontalPodAutoscaler", "horizontalpodautoscalers")
    };
}

object!(HorizontalPodAutoscaler);
